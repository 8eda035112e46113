// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/pkg/cli/preview"
)

// maxPreviewed is how many objects of a Cleaner a preview shows.
const maxPreviewed = 1000

// preview reads which Cleaner is to be judged.
func (s *Server) preview(r *http.Request) (streams, error) {
	c, err := previewOf(r)
	return func(ctx context.Context, p *person, to *stream) { s.previewTo(ctx, p, to, c) }, err
}

// previewTo judges a Cleaner as the person, and reports how far it is.
func (s *Server) previewTo(ctx context.Context, p *person, to *stream, c command) {
	ctx, cancel := context.WithTimeout(ctx, scanIn)
	defer cancel()
	leave, err := s.enter(ctx, p)
	if err != nil {
		to.fail(err)
		return
	}
	defer leave()
	var notes strings.Builder
	c.errOut = &lines{each: func(line string) {
		if text, ok := progressIn(line); ok {
			_ = to.send("progress", Progress{text})
		} else if notes.Len() < maxLine {
			notes.WriteString(line + "\n")
		}
	}}
	if s.OperatorNamespace != "" {
		c.args = append([]string{"--operator-namespace=" + s.OperatorNamespace}, c.args...)
	}
	out, err := s.call(ctx, p, c)
	if len(out) == 0 && err != nil {
		f := failureOf(usageOf(err))
		f.Body.Hint = cmp.Or(f.Body.Hint, strings.TrimSpace(notes.String())) // which says what is wrong, and where
		to.fail(f)
		return
	}
	var result struct {
		Cleaners []map[string]any `json:"cleaners"`
		Notes    string           `json:"notes,omitempty"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		to.fail(err)
		return
	}
	if f := unreadable(result.Cleaners); f != nil {
		to.fail(f)
		return
	}
	shorten(result.Cleaners)
	result.Notes = strings.TrimSpace(notes.String())
	_ = to.send("result", result)
}

// unreadable says which right is missing if, for want of it, nothing could be looked at: then no count says anything.
func unreadable(cleaners []map[string]any) *Failure {
	for _, cleaner := range cleaners {
		incomplete, _ := cleaner["incomplete"].(string)
		if missing := missingIn(incomplete); missing != "" && cleaner["considered"] == 0.0 {
			return &Failure{http.StatusForbidden, Error{
				Error:   "you may not list what this Cleaner selects, so nothing was looked at; the operator may have the right",
				Missing: missing,
			}}
		}
	}
	return nil
}

// shorten leaves out the objects of each Cleaner beyond maxPreviewed, and says how many more there are.
func shorten(cleaners []map[string]any) {
	for _, cleaner := range cleaners {
		if objects, ok := cleaner["objects"].([]any); ok && len(objects) > maxPreviewed {
			cleaner["objects"], cleaner["more"] = objects[:maxPreviewed], len(objects)-maxPreviewed
		}
	}
}

// previewOf is the command that the request asks for.
func previewOf(r *http.Request) (command, error) {
	var asked Preview
	if err := read(r, &asked); err != nil {
		return command{}, err
	}
	args := []string{"-o", "json", "--progress=json"}
	switch {
	case (asked.Name == "") == (asked.YAML == ""):
		return command{}, badRequest("give either yaml or name")
	case asked.YAML != "":
		return command{of: preview.Command, args: append(args, "-f", "-"), in: asked.YAML}, nil
	case len(validation.IsDNS1123Subdomain(asked.Name)) > 0:
		return command{}, badRequest("%q cannot be the name of a Cleaner", asked.Name)
	}
	return command{of: preview.Command, args: append(args, "--", asked.Name)}, nil
}

// progressIn is the progress that a line of --progress=json reports.
func progressIn(line string) (string, bool) {
	var facts struct {
		Phase string `json:"phase"`
	}
	if err := json.Unmarshal([]byte(line), &facts); err != nil || facts.Phase == "" {
		return "", false
	}
	return facts.Phase, true
}
