// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check finds what is wrong with Cleaners in manifests: without a cluster, and in the words of people. lint
// prints it; test and preview refuse to go on with it.
package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// Checker finds what is wrong with Cleaners, without a cluster.
type Checker struct {
	schema *crdSchema
	Pool   *sandbox.Pool
	Now    time.Time
}

// Result is a Cleaner and what was found out about it.
type Result struct {
	Document *manifest.Document
	// Cleaner is the Cleaner as the API server would store it, as far as it can be read.
	Cleaner *v1alpha1.Cleaner
	// Schedule is nil when it cannot be read.
	Schedule *schedule.Schedule
	Problems []manifest.Problem
	// TypesUnknown says that there are conditions for objects of a kind of which Lint knows no fields.
	TypesUnknown bool
}

// New reads the schema of Cleaners. The pool runs their scripts.
func New(s *terminal.Session, pool *sandbox.Pool) (*Checker, error) {
	schema, err := schemaOfCleaners()
	return &Checker{schema: schema, Pool: pool, Now: s.Now()}, err
}

// IsCleaner reports whether a document is a Cleaner. One that is almost one is a problem.
func IsCleaner(d *manifest.Document) (bool, *manifest.Problem) {
	group, _, _ := strings.Cut(d.APIVersion(), "/")
	ours := group == v1alpha1.GroupVersion.Group
	spec, _ := d.Value["spec"].(map[string]any)
	_, looksLikeOne := spec["resourcePolicySet"]
	wrong := func(field, message, hint string) (bool, *manifest.Problem) {
		p := d.At(field, codes.KindWrong, message, hint)
		return false, &p
	}
	switch {
	case d.Kind() == "Cleaner" && d.APIVersion() == v1alpha1.GroupVersion.String():
		return true, nil
	case d.Kind() == "Cleaner" && (ours || looksLikeOne):
		return wrong(
			"apiVersion",
			terminal.Quoted(d.APIVersion())+" is not the version of Cleaners",
			"write apiVersion: "+v1alpha1.GroupVersion.String(),
		)
	case d.Kind() == "" && looksLikeOne:
		return wrong("kind", "is missing", "write apiVersion: "+v1alpha1.GroupVersion.String()+" and kind: Cleaner")
	case ours && d.Kind() != "Report" && d.Kind() != "CleanerRun", looksLikeOne:
		return wrong(
			"kind",
			terminal.Quoted(d.Kind())+" is not a kind of "+v1alpha1.GroupVersion.Group,
			"write kind: Cleaner",
		)
	}
	return false, nil
}

// Check finds all problems of a Cleaner. The error means that no process for its scripts could be had.
func (c *Checker) Check(ctx context.Context, d *manifest.Document) (*Result, error) {
	result := c.WithoutScripts(ctx, d)
	if err := result.scripts(ctx, c.Pool); err != nil {
		return nil, err
	}
	result.Problems = manifest.Sorted(result.Problems)
	return result, nil
}

// WithoutScripts finds the problems that need no process for scripts.
func (c *Checker) WithoutScripts(ctx context.Context, d *manifest.Document) *Result {
	result := &Result{Document: d, Cleaner: &v1alpha1.Cleaner{}}
	result.Problems = append(result.Problems, c.schema.unknownFields(d)...)
	result.Problems = append(result.Problems, c.schema.booleans(d)...)
	errs, stored := c.schema.validate(ctx, d.Value)
	for _, err := range errs {
		if p := c.schema.reword(d, err); p.Code == codes.FieldRule || !result.has(p.Field) {
			result.Problems = append(result.Problems, p)
		}
	}
	result.decode(stored)
	result.metadata()
	result.parseSchedule()
	result.selectors(c.Now)
	result.advise()
	return result
}

// decode reads the Cleaner. Fields of the wrong type below spec are reported already; the decoder leaves them out.
func (r *Result) decode(stored map[string]any) {
	raw, err := json.Marshal(stored)
	if err == nil {
		err = json.Unmarshal(raw, r.Cleaner)
	}
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &wrongType):
		if strings.HasPrefix(wrongType.Field, "metadata") {
			words, hint := WrongTypeWords(wrongType)
			r.add(wrongType.Field, codes.FieldType, words, hint)
		}
	default:
		if manifest.CountErrors(r.Problems) == 0 {
			r.add("", codes.FieldValue, err.Error(), "")
		}
	}
}

func (r *Result) add(field string, code codes.Code, message, hint string) {
	r.Problems = append(r.Problems, r.Document.At(field, code, message, hint))
}

// has reports whether a field already has an error.
func (r *Result) has(field string) bool {
	for _, p := range r.Problems {
		if p.Field == field && p.Code.Severity() == codes.SeverityError {
			return true
		}
	}
	return false
}

func (r *Result) metadata() {
	meta := r.Cleaner.ObjectMeta
	for _, err := range validation.ValidateObjectMeta(&meta, false, validation.NameIsDNSSubdomain,
		field.NewPath("metadata")) {
		message := err.Detail
		if err.Type == field.ErrorTypeRequired {
			r.add(err.Field, codes.FieldMissing, "is missing", "give the Cleaner a name, for example unused-configmaps")
			continue
		}
		if err.Type == field.ErrorTypeForbidden { // a namespace, which the API server drops
			r.add(err.Field, codes.FieldIgnored, "is ignored: Cleaners belong to no namespace", "")
			continue
		}
		if strings.Contains(message, "RFC 1123 subdomain") {
			message = "it must be made of lower-case letters, digits, '-' and '.', and begin and end with a letter or digit"
		}
		r.add(err.Field, codes.FieldValue, fmt.Sprintf("%q is not allowed: %s", fmt.Sprint(err.BadValue), message), "")
	}
}

func (r *Result) parseSchedule() {
	spec := r.Cleaner.Spec
	if spec.Schedule == "" || r.has("spec.timeZone") {
		return // the schema reports it
	}
	zone := ""
	if spec.TimeZone != nil {
		zone = *spec.TimeZone
	}
	parsed, err := schedule.Parse(spec.Schedule, zone)
	if err != nil {
		at := "spec.schedule"
		if zone != "" && strings.Contains(err.Error(), "is in time zone") {
			at = "spec.timeZone"
			if _, err := schedule.Parse(spec.Schedule, ""); err != nil && !strings.Contains(err.Error(), "is in time zone") {
				r.wrongSchedule("spec.schedule", err)
			}
		}
		r.wrongSchedule(at, err)
		return
	}
	r.Schedule = parsed
	for _, warning := range parsed.Warnings() {
		r.add("spec.schedule", codes.ScheduleDoubtful, warning, "")
	}
}

func (r *Result) wrongSchedule(at string, err error) {
	message, hint := twoParts(err.Error())
	r.add(at, codes.ScheduleWrong, strings.TrimPrefix(message, "schedule "), hint)
}

// Next are the next n times at which the Cleaner runs.
func (r *Result) Next(after time.Time, n int) []time.Time {
	var times []time.Time
	for range n {
		if after = r.Schedule.Next(after); after.IsZero() {
			break
		}
		times = append(times, after)
	}
	return times
}

// twoParts splits the text of an error of ours into what is wrong and the way out, which stands after the last
// semicolon.
func twoParts(text string) (message, hint string) {
	if i := strings.LastIndex(text, "; "); i > 0 {
		return text[:i], text[i+2:]
	}
	return text, ""
}
