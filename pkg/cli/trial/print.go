// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Report is how all directories did; it is what -o json prints.
type Report struct {
	Directories []*result `json:"directories"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
}

// result is how one directory did.
type result struct {
	Directory string    `json:"directory"`
	OK        bool      `json:"ok"`
	Objects   int       `json:"objects"`
	Failures  []failure `json:"failures"`
	// Notes are what was assumed of objects.
	Notes []failure `json:"notes,omitempty"`

	passed []string
}

// failure is one object that was not dealt with as the files say, or something wrong with the files. A note has the
// same shape.
type failure struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Object  string   `json:"object,omitempty"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

func (r *result) pass(o *tested) {
	r.Objects++
	r.passed = append(r.passed, filepath.Base(o.file)+": "+o.String())
}

func (r *result) fail(f failure) {
	if f.Object != "" {
		r.Objects++
	}
	r.Failures = append(r.Failures, f)
}

func (r *Report) add(result *result) {
	result.OK = len(result.Failures) == 0
	r.Directories = append(r.Directories, result)
	if result.OK {
		r.Passed++
	} else {
		r.Failed++
	}
}

// write prints one line when all is well, else what is not.
func (r *result) write(w io.Writer, paint terminal.Paint) {
	word := paint.Green("ok  ")
	if len(r.Failures) > 0 {
		word = paint.Red("FAIL")
	}
	fmt.Fprintf(w, "%s  %s (%s)\n", word, r.Directory, terminal.Counted(r.Objects, "object"))
	for _, f := range r.Failures {
		fmt.Fprintf(w, "      %s:%d: %s\n", f.File, f.Line, f.words())
		for _, detail := range f.Details {
			fmt.Fprintf(w, "          %s\n", strings.ReplaceAll(strings.TrimRight(detail, "\n"), "\n", "\n          "))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "      %s\n", note.asNote())
	}
}

func (f *failure) words() string {
	if f.Object == "" {
		return f.Message
	}
	return f.Object + " " + f.Message
}

func (f *failure) asNote() string {
	return fmt.Sprintf("%s:%d: note: %s: %s", f.File, f.Line, f.Object, f.Message)
}

func (r *Report) summary() string {
	objects := 0
	for _, result := range r.Directories {
		objects += result.Objects
	}
	all := r.Passed + r.Failed
	directories := "1 directory"
	if all != 1 {
		directories = fmt.Sprintf("%d directories", all)
	}
	if r.Failed == 0 {
		return fmt.Sprintf("%s passed, %s tried", directories, terminal.Counted(objects, "object"))
	}
	return fmt.Sprintf("%d of %s failed, %s tried", r.Failed, directories, terminal.Counted(objects, "object"))
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
	Notes    string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes the report in the format that CI systems read.
func (r *Report) junit(w io.Writer) error {
	var all junitSuites
	for _, result := range r.Directories {
		suite := junitSuite{Name: result.Directory}
		for _, name := range result.passed {
			suite.Cases = append(suite.Cases, junitCase{Class: result.Directory, Name: name})
		}
		for _, f := range result.Failures {
			name := filepath.Base(f.File)
			if f.Object != "" {
				name += ": " + f.Object
			}
			suite.Cases = append(suite.Cases, junitCase{
				Class: result.Directory, Name: name, File: f.File, Line: f.Line,
				Failure: &junitFailure{Message: f.words(), Text: strings.Join(f.Details, "\n")},
			})
		}
		for _, note := range result.Notes {
			suite.Notes += note.asNote() + "\n"
		}
		suite.Tests, suite.Failures = len(suite.Cases), len(result.Failures)
		all.Tests, all.Failures = all.Tests+suite.Tests, all.Failures+suite.Failures
		all.Suites = append(all.Suites, suite)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+terminal.Escaped(string(text), "&#x%X;")+"\n")
	return err
}
