// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mark reads time marks: annotations and labels that say when the time of an object is over. It knows our own
// and those of neighbouring tools, each in the forms that its tool reads. It is pure: findings, CEL and Lua ask it the
// same.
package mark

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Dialect says which tool reads a mark. The names are those of the API's MarkDialect. It is a type of its own because
// the processes that run scripts start without the API's packages.
type Dialect string

const (
	kubeCleaner      Dialect = "KubeCleaner"
	kubeJanitor      Dialect = "KubeJanitor"
	k8sTTLController Dialect = "K8sTTLController"
	kyverno          Dialect = "Kyverno"
	mayfly           Dialect = "Mayfly"
	podReaper        Dialect = "PodReaper"
)

// Object is what marks are read from.
type Object struct {
	// Created is when the object was created. Zero when nobody knows.
	Created time.Time
	// IsPod is true of Pods, and IsOwned of what another object owns.
	IsPod, IsOwned bool
	// Label and Annotation return the value of a key, and whether the object has it.
	Label, Annotation func(key string) (text string, ok bool)
}

// Mark is one mark of an object.
type Mark struct {
	Dialect Dialect
	// Key is that of the annotation or label.
	Key string
	// Ends is when the mark says that the object's time is over. It is zero when Never is true, or when Err is set.
	Ends time.Time
	// Never is true when the mark says that it never is.
	Never bool
	// Err says why the mark cannot be read, with its text, and what to write.
	Err error
}

// Read reads the marks of an object. Those of an object that another one owns do not count: a controller hands its own
// marks to what it makes, and decides itself. pod-reaper's counts for every Pod, because it is meant for templates.
func Read(o Object) (marks []Mark) {
	for i := range forms {
		f := &forms[i]
		if f.ofPods && !o.IsPod || !f.ofPods && o.IsOwned {
			continue
		}
		text, ok := o.Annotation(f.key)
		if f.isLabel {
			text, ok = o.Label(f.key)
		}
		if !ok || text == "" && f.mayBeEmpty {
			continue
		}
		marks = append(marks, f.read(o, text))
	}
	return marks
}

// Check refuses names that are no dialects.
func Check(dialects []Dialect) error {
	all := []Dialect{kubeCleaner, kubeJanitor, k8sTTLController, kyverno, mayfly, podReaper}
	for _, d := range dialects {
		if !slices.Contains(all, d) {
			return fmt.Errorf("%q is no dialect of time marks; the dialects are %v", string(d), all)
		}
	}
	return nil
}

// Of are the marks of the dialects, or all marks when none is named.
func Of[D ~string](marks []Mark, dialects ...D) []Mark {
	if len(dialects) == 0 {
		return marks
	}
	isOther := func(m Mark) bool { return !slices.Contains(dialects, D(m.Dialect)) }
	return slices.DeleteFunc(slices.Clone(marks), isOther)
}

// Last is the mark that keeps the object longest. It is false when there is none. The error names all marks that cannot
// be read: the object stays.
func Last(marks []Mark) (last Mark, ok bool, err error) {
	var wrong []error
	for _, m := range marks {
		switch {
		case m.Err != nil:
			wrong = append(wrong, m.Err)
		case !ok, !last.Never && (m.Never || m.Ends.After(last.Ends)):
			last, ok = m, true
		}
	}
	return last, ok && len(wrong) == 0, errors.Join(wrong...)
}

// IsKey reports whether a key is that of a mark.
func IsKey(is func(key string) bool) bool {
	return slices.ContainsFunc(forms, func(f form) bool { return is(f.key) })
}

// maxText is how many bytes of a mark's text are quoted.
const maxText = 64

func (f *form) read(o Object, text string) Mark {
	m := Mark{Dialect: f.dialect, Key: f.key}
	ends, err := f.end(o, text)
	switch {
	case errors.Is(err, errForever):
		m.Never = true
	case err != nil:
		where := "annotation"
		if f.isLabel {
			where = "label"
		}
		m.Err = fmt.Errorf("%s %s %s cannot be read: %w", where, f.key, quoted(text), err)
	default:
		m.Ends = ends
	}
	return m
}

func quoted(text string) string {
	if len(text) <= maxText {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:maxText]) + "..."
}

// end is when the mark says that the object's time is over.
func (f *form) end(o Object, text string) (time.Time, error) {
	if f.after != nil {
		after, err := f.after(text)
		if err == nil {
			return f.afterStart(o, after)
		}
		if errors.Is(err, errForever) {
			return time.Time{}, err
		}
	}
	for _, layout := range f.layouts {
		if at, ok := parseTime(layout, text); ok {
			return at, nil
		}
	}
	return time.Time{}, errors.New("write " + f.write)
}

// afterStart adds a duration to the creation of the object, or to the time that its tool takes instead.
func (f *form) afterStart(o Object, after time.Duration) (time.Time, error) {
	start := o.Created
	if f.start != "" {
		if text, ok := o.Annotation(f.start); ok {
			at, ok := parseTime(time.RFC3339, text)
			if !ok {
				return time.Time{},
					fmt.Errorf(
						"its time counts from annotation %s %s, which cannot be read: write a time such as 2026-03-01T12:00:00Z",
						f.start,
						quoted(text),
					)
			}
			start = at
		}
	}
	if start.IsZero() {
		return time.Time{}, errors.New("nobody knows when the object was created")
	}
	return start.Add(after), nil
}
