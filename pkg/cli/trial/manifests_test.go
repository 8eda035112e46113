// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestArbitraryManifests damages manifests in all sorts of ways: nothing panics, and every problem is at a place that the file
// has. It is no fuzz target, because instrumenting all of Kubernetes' libraries takes longer than the fuzzing.
func TestArbitraryManifests(t *testing.T) {
	var corpus [][]byte
	for _, pattern := range []string{"../testdata/lint/*", "../testdata/test/*/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		fatal(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			fatal(t, err)
			corpus = append(corpus, text)
		}
	}
	corpus = append(corpus, []byte("a: &a [*a]\n"), []byte("a: &a {<<: *a}\n"), []byte("%YAML 1.2\n--- x\n...\n"), []byte("---\n---"))
	s := &terminal.Session{Options: terminal.Options{Now: func() time.Time { return time.Unix(1e9, 0) }}}
	checker, err := check.New(s, nil)
	fatal(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		text := corpus[i%len(corpus)]
		if i >= len(corpus) {
			text = damaged(random, corpus)
		}
		for _, p := range manifestProblems(t, checker, text) {
			if p.Line < 1 || p.Line > bytes.Count(text, []byte("\n"))+1 || p.Column < 0 || p.Message == "" {
				t.Fatalf("a problem at a place that is not there: %+v\n%s", p, text)
			}
		}
	}
}

func manifestProblems(t *testing.T, checker *check.Checker, text []byte) []manifest.Problem {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%v\n%s", p, text)
		}
	}()
	docs, problems := (&manifest.Source{Name: "f", Text: text}).Documents()
	for _, d := range docs {
		if is, almost := check.IsCleaner(d); almost != nil {
			problems = append(problems, *almost)
		} else if is {
			problems = append(problems, checker.WithoutScripts(t.Context(), d).Problems...)
		}
		_, _ = newTestObject(d, 0)
	}
	return problems
}

// damaged is one of the texts with a few lines or bytes taken out, doubled, moved or replaced.
func damaged(random *rand.Rand, corpus [][]byte) []byte {
	lines := bytes.Split(corpus[random.IntN(len(corpus))], []byte("\n"))
	other := bytes.Split(corpus[random.IntN(len(corpus))], []byte("\n"))
	for range 1 + random.IntN(4) {
		i := random.IntN(len(lines))
		switch random.IntN(6) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, i, other[random.IntN(len(other))])
		case 2:
			lines[i] = bytes.Join([][]byte{[]byte("  "), lines[i]}, nil)
		case 3:
			lines[i] = bytes.TrimPrefix(lines[i], []byte("  "))
		case 4: // another value
			if key, _, ok := bytes.Cut(lines[i], []byte(": ")); ok {
				values := []string{"", "null", "true", "-1", "1.5", "[]", "{}", "[{}]", `""`, "*x", "!!binary x", "1e99", "|", "- a"}
				lines[i] = append(slices.Clone(key), ": "+values[random.IntN(len(values))]...)
			}
		case 5:
			if len(lines[i]) > 0 {
				lines[i] = slices.Clone(lines[i])
				lines[i][random.IntN(len(lines[i]))] = "\x00\t\"'{}[]:#&*!|>%@,- \xff"[random.IntN(21)]
			}
		}
		if len(lines) == 0 {
			break
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
