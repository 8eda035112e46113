// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// testReport is how all directories did; it is what -o json prints.
type testReport struct {
	Directories []*testResult `json:"directories"`
	Passed      int           `json:"passed"`
	Failed      int           `json:"failed"`
}

// testResult is how one directory did.
type testResult struct {
	Directory string        `json:"directory"`
	OK        bool          `json:"ok"`
	Objects   int           `json:"objects"`
	Failures  []testFailure `json:"failures"`
	// Notes are what was assumed of objects.
	Notes []testFailure `json:"notes,omitempty"`

	passed []string
}

// testFailure is one object that was not dealt with as the files say, or something wrong with the files. A note has the same shape.
type testFailure struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Object  string   `json:"object,omitempty"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

func (r *testResult) pass(o *testObject) {
	r.Objects++
	r.passed = append(r.passed, filepath.Base(o.file)+": "+o.String())
}

func (r *testResult) fail(f testFailure) {
	if f.Object != "" {
		r.Objects++
	}
	r.Failures = append(r.Failures, f)
}

func (r *testReport) add(result *testResult) {
	result.OK = len(result.Failures) == 0
	r.Directories = append(r.Directories, result)
	if result.OK {
		r.Passed++
	} else {
		r.Failed++
	}
}

// write prints one line when all is well, else what is not.
func (r *testResult) write(w io.Writer, paint terminal.Paint) {
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

func (f *testFailure) words() string {
	if f.Object == "" {
		return f.Message
	}
	return f.Object + " " + f.Message
}

func (f *testFailure) asNote() string {
	return fmt.Sprintf("%s:%d: note: %s: %s", f.File, f.Line, f.Object, f.Message)
}

func (r *testReport) summary() string {
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
func (r *testReport) junit(w io.Writer) error {
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
