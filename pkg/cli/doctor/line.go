// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Status is how something is.
type Status string

// The statuses, from good to bad.
const (
	OK      Status = "OK"
	Unknown Status = "UNKNOWN"
	Warn    Status = "WARN"
	Fail    Status = "FAIL"
)

// Line is what a check found. It is what -o json prints.
type Line struct {
	Status Status `json:"status"`
	Check  string `json:"check"`
	// Object is what it is about, as KIND/NAME or KIND/NAMESPACE/NAME. Empty when it is about no single object.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	// WayOut is what to do about it. Empty when all is well.
	WayOut string `json:"wayOut,omitempty"`
}

// check is a name and what it looks at. It reports problems; without any, the one line that says so.
type check struct {
	name string
	find func(p *patient, ctx context.Context) (problems []Line, well string)
}

func (c check) look(ctx context.Context, p *patient) []Line {
	lines, well := c.find(p, ctx)
	if len(lines) == 0 {
		lines = []Line{{Status: OK, Message: well}}
	}
	for i := range lines {
		lines[i].Check = c.name
	}
	p.untouched(lines)
	return lines
}

// unread is the line about what could not be read: nobody knows whether it is well.
func unread(object, doing string, err error) Line {
	line := Line{
		Status:  Unknown,
		Object:  object,
		Message: doing + ": " + terminal.OneLine(err.Error()),
		WayOut:  "try again, and look at the API server",
	}
	if apierrors.IsForbidden(err) {
		line.WayOut = "get this right, or run doctor as somebody who has it (--as)"
	}
	return line
}

// unreadAll is the one line about several things that could not be read, because whoever lacks the right to list one of
// them mostly lacks the others, too. Without an error, there is none.
func unreadAll(doing string, errs ...error) []Line {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	var resources, all []string
	for _, err := range errs {
		all = append(all, err.Error())
		var status apierrors.APIStatus
		if !apierrors.IsForbidden(err) || !errors.As(err, &status) || status.Status().Details == nil {
			continue
		}
		what := status.Status().Details
		resources = append(resources, schema.GroupResource{Group: what.Group, Resource: what.Kind}.String())
	}
	line := unread("", doing, errs[0])
	switch {
	case len(errs) > 1 && len(resources) == len(errs):
		line.Message = doing + ": you may not list " + strings.Join(resources, ", ")
	case len(errs) > 1:
		line.Message = doing + ": " + terminal.OneLine(strings.Join(all, "; "))
	}
	return []Line{line}
}

func (o *options) print(lines []Line) error {
	switch o.output {
	case "json":
		return terminal.WriteJSON(o.Out, map[string]any{"checks": lines})
	case "yaml":
		return terminal.WriteYAML(o.Out, map[string]any{"checks": lines})
	}
	paint := o.Paint(o.Out)
	colour := map[Status]func(string) string{OK: paint.Green, Unknown: paint.Yellow, Warn: paint.Yellow, Fail: paint.Red}
	rows := &terminal.Table{Out: o.Out, Paint: paint, Header: []string{"STATUS", "CHECK", "MESSAGE"}}
	for _, line := range together(lines) {
		rows.Add(
			[]terminal.Cell{{Text: string(line.Status), In: colour[line.Status]}, {Text: line.Check}, {Text: line.words()}},
		)
	}
	rows.Flush()
	return nil
}

// maxObjects is how many objects a line names of which the same is true.
const maxObjects = 3

// together makes one line of those that say the same of several objects: hundreds of Cleaners may have one cause.
func together(lines []Line) (all []Line) {
	objects := map[int][]string{}
	for _, line := range lines {
		i := slices.IndexFunc(all, func(l Line) bool {
			return l.Status == line.Status && l.Check == line.Check && l.Message == line.Message
		})
		if i < 0 {
			i, all = len(all), append(all, line)
		}
		objects[i] = append(objects[i], line.Object)
	}
	for i := range all {
		all[i].Object = terminal.Shortened(objects[i], maxObjects)
	}
	return all
}

// words are the line as people read it.
func (l Line) words() string {
	text := strings.TrimSuffix(l.Message, ".")
	if l.Object != "" {
		text = l.Object + ": " + text
	}
	if l.WayOut != "" {
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		text += " To do: " + l.WayOut
	}
	return text
}

// count is how many lines have the status.
func count(lines []Line, status Status) (n int) {
	for _, line := range lines {
		if line.Status == status {
			n++
		}
	}
	return n
}

// summary counts the lines as they are shown.
func summary(lines []Line) string {
	lines = together(lines)
	words := []string{}
	for _, of := range []struct {
		status Status
		word   string
	}{{Fail, "failure"}, {Warn, "warning"}} {
		if n := count(lines, of.status); n > 0 {
			words = append(words, terminal.Counted(n, of.word))
		}
	}
	if n := count(lines, Unknown); n > 0 {
		words = append(words, fmt.Sprintf("%d unknown", n))
	}
	if len(words) == 0 {
		return "nothing is wrong"
	}
	return strings.Join(words, ", ")
}

// exitCode is how the command exits. What is unknown is not well.
func exitCode(lines []Line) int {
	switch {
	case count(lines, Fail) > 0:
		return codes.ExitError
	case slices.ContainsFunc(lines, func(l Line) bool { return l.Status != OK }):
		return codes.ExitPartial
	}
	return codes.ExitDone
}
