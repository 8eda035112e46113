// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// report is what there is to say of the sources, besides the Cleaners.
type report struct {
	problems []manifest.Problem
	// origins are the lines of the conditions that were translated.
	origins map[origin]int
}

// origin is a translated condition of a document.
type origin struct {
	d          *manifest.Document
	expression string
}

// comesFrom remembers of which field a condition is the translation: what does not fit a kind is found later.
func (r *report) comesFrom(d *manifest.Document, expression, field string) {
	line, _ := d.Find(field)
	r.comesFromLine(d, expression, line)
}

func (r *report) comesFromLine(d *manifest.Document, expression string, line int) {
	if r.origins == nil {
		r.origins = map[origin]int{}
	}
	r.origins[origin{d, expression}] = line
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

// differsAt is differs for a line that is of no field of the document.
func (r *report) differsAt(d *manifest.Document, line int, message, hint string) {
	p := d.At("", codes.ImportDiffers, message, hint)
	p.Line = cmp.Or(line, p.Line)
	r.problems = append(r.problems, p)
}

// unreadable says that a document is not as its tool wants it, and what follows. Line is 0 for that of the field.
func (r *report) unreadable(d *manifest.Document, line int, err error, follows string) {
	field, message, hint := "", err.Error(), "check it with the tool that it is for"
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		message, hint = check.WrongTypeWords(wrong)
		field = fieldName(wrong.Field)
	}
	p := d.At(field, codes.ImportLost, message+follows, hint)
	p.Line = cmp.Or(line, p.Line)
	r.problems = append(r.problems, p)
}

// fieldName is the path of a field of a struct as manifests write it: "metadata.namespace" for ".Metadata.Namespace".
func fieldName(path string) string {
	steps := strings.Split(strings.TrimPrefix(path, "."), ".")
	for i, step := range steps {
		capitals := len(step) - len(strings.TrimLeftFunc(step, unicode.IsUpper))
		if capitals > 1 && capitals < len(step) { // APIGroups
			capitals--
		}
		steps[i] = strings.ToLower(step[:capitals]) + step[capitals:]
	}
	return strings.Join(steps, ".")
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
