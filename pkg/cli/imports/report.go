// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// report is what there is to say of the sources, besides the Cleaners.
type report struct {
	problems []manifest.Problem
}

// lost says that something was not carried over, and what to do.
func (r *report) lost(d *manifest.Document, field, message, hint string) {
	r.problems = append(r.problems, d.At(field, codes.ImportLost, message, hint))
}

// lostAt is lost for a line that is of no field of the document.
func (r *report) lostAt(d *manifest.Document, line int, message, hint string) {
	p := d.At("", codes.ImportLost, message, hint)
	p.Line = cmp.Or(line, p.Line)
	r.problems = append(r.problems, p)
}

// differs says that a Cleaner behaves in another way, on purpose.
func (r *report) differs(d *manifest.Document, field, message, hint string) {
	r.problems = append(r.problems, d.At(field, codes.ImportDiffers, message, hint))
}

// wrong says that what the source asks for is a known mistake.
func (r *report) wrong(d *manifest.Document, field, message, hint string) {
	r.problems = append(r.problems, d.At(field, codes.ImportMistaken, message, hint))
}

// differsAll is differs for what is of no one document. It is one line.
func (r *report) differsAll(message string) {
	r.problems = append(r.problems, manifest.Problem{Code: codes.ImportDiffers, Message: message})
}

// lostAll is lost for what is of no one document.
func (r *report) lostAll(message, hint string) {
	r.problems = append(r.problems, manifest.Problem{Code: codes.ImportLost, Message: message, Hint: hint})
}

// print prints all of it, file by file and line by line. What is of no file is the last.
func (r *report) print(s *terminal.Session) {
	paint := s.Paint(s.ErrOut)
	var files []string
	for _, p := range r.problems {
		if p.File != "" && !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	for _, file := range append(files, "") {
		of := slices.DeleteFunc(slices.Clone(r.problems), func(p manifest.Problem) bool { return p.File != file })
		for _, p := range manifest.Sorted(of) {
			check.Print(s.ErrOut, paint, p)
		}
	}
}

// count is how many things were not carried over.
func (r *report) count() (lost int) {
	for _, p := range r.problems {
		if p.Code == codes.ImportLost || p.Code.Severity() == codes.SeverityError {
			lost++
		}
	}
	return lost
}

// summary is one sentence about all of it.
func summary(cleaners int, lost int) string {
	text := terminal.Counted(cleaners, "Cleaner") + " written"
	if lost > 0 {
		text += fmt.Sprintf(
			"; %s not carried over: see above",
			terminal.Counted(lost, "thing")+terminal.Plural(int64(lost), " was", " were"),
		)
	}
	return text
}
