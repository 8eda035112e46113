// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lint is kubectl cleaner lint: what is wrong with Cleaners in files, without a cluster.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// options are the flags of lint.
type options struct {
	*terminal.Session
	files   []string
	schemas []string
	output  string
	strict  bool
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "lint [-f] FILE...",
		Short: "Check Cleaners, without a cluster",
		Long: "Checks Cleaners as the API server and the operator would, lists all problems that show without a cluster, and shows\n" +
			"when the Cleaners run.\n" +
			"FILE is a file, a directory with all the .yaml, .yml and .json files below it, an address (https://), or - for the\n" +
			"standard input.",
		Example: "  kubectl cleaner lint -f cleaner.yaml\n  kubectl cleaner lint manifests/ -o json\n  kustomize build . | kubectl cleaner lint -f -",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = append(o.files, args...)
			if len(o.files) == 0 {
				return terminal.UsageError(cmd, "needs a file: "+terminal.Program+" lint FILE")
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().
		StringArrayVarP(&o.files, "filename", "f", nil, "a file, a directory, https://... or - (may be given several times)")
	cmd.Flags().
		StringArrayVar(&o.schemas, "schemas", nil, "a file or directory with schemas of more kinds: CustomResourceDefinitions, or what kubectl get --raw /openapi/v3/apis/GROUP/VERSION prints (may be given several times)")
	cmd.Flags().VarP(terminal.NewChoice(&o.output, "text", "json"), "output", "o", "what to print: text or json")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "treat warnings as errors")
	return cmd
}

// Result is what lint found; it is what -o json prints.
type Result struct {
	Cleaners []lintedCleaner    `json:"cleaners"`
	Problems []manifest.Problem `json:"problems"`

	files int
	// typesUnknown says that a Cleaner has matchConditions for objects of a kind of which no schema is known.
	typesUnknown bool
	checked      []*check.Result
}

// compare finds Cleaners that act on the same objects, or have one name. Problems stay in the order of the files.
func (r *Result) compare(sources []manifest.Source) {
	r.Problems = append(r.Problems, check.Overlaps(r.checked)...)
	r.Problems = append(r.Problems, check.SameNames(r.checked)...)
	order := map[string]int{}
	for i, source := range sources {
		order[source.Name] = i
	}
	slices.SortStableFunc(r.Problems, func(a, b manifest.Problem) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line))
	})
}

func (o *options) run(ctx context.Context) error {
	sources, err := manifest.Read(o.Session, o.files)
	if err != nil {
		return err
	}
	known, err := kinds.Read(o.Session, o.schemas)
	if err != nil {
		return err
	}
	pool := sandbox.New(o.Scripts)
	defer pool.Close()
	checker, err := check.New(o.Session, pool)
	if err != nil {
		return err
	}
	result := Result{Cleaners: []lintedCleaner{}, Problems: []manifest.Problem{}, files: len(sources)}
	found, err := o.lintAll(ctx, linter{checker, known}, sources, &result)
	if err != nil {
		return err
	}
	if !found && !slices.ContainsFunc(sources, func(s manifest.Source) bool { return s.Named }) {
		return terminal.Fail(codes.FileNoCleaner, errors.New("there is no Cleaner in "+strings.Join(o.files, " ")), "")
	}
	result.compare(sources)
	if err := o.print(&result); err != nil {
		return err
	}
	if o.failed(result.Problems) {
		return terminal.Quit(codes.ExitError)
	}
	if result.typesUnknown && o.output != "json" {
		o.Note(
			"for some kinds, the fields in matchConditions were not checked. Give their schemas with --schemas FILE, or use a cluster: kubectl cleaner preview -f FILE",
		)
	}
	return nil
}

// failed reports whether the problems make the command fail.
func (o *options) failed(problems []manifest.Problem) bool {
	return slices.ContainsFunc(problems, func(p manifest.Problem) bool {
		severity := p.Code.Severity()
		return severity == codes.SeverityError || o.strict && severity == codes.SeverityWarning
	})
}

// linter is what Cleaners are checked with.
type linter struct {
	*check.Checker
	known *kinds.Known
}

// lintAll checks all files. found is whether one has a Cleaner, or something broken that may be one.
func (o *options) lintAll(
	ctx context.Context,
	by linter,
	sources []manifest.Source,
	result *Result,
) (found bool, err error) {
	for _, source := range sources {
		if source.IsForeignTemplate() {
			o.Note("%s: skipped a template", source.Name)
			continue
		}
		isFound, err := o.lintSource(ctx, by, source, result)
		if err != nil {
			return false, err
		}
		found = found || isFound
	}
	return found, nil
}

// lintSource checks one file. found is whether it has a Cleaner, or something broken that may be one.
func (o *options) lintSource(
	ctx context.Context,
	by linter,
	source manifest.Source,
	result *Result,
) (found bool, err error) {
	docs, problems := source.Documents()
	defer func() { result.Problems = append(result.Problems, manifest.Sorted(problems)...) }()
	found = len(problems) > 0
	var others []string
	for _, d := range docs {
		is, almost := check.IsCleaner(d)
		switch {
		case almost != nil:
			found = true
			problems = append(problems, *almost)
		case !is:
			others = append(others, kindWord(d))
		default:
			found = true
			checked, err := by.Lint(ctx, d, by.known)
			if err != nil {
				return found, err
			}
			problems = append(problems, checked.Problems...)
			result.Cleaners = append(result.Cleaners, linted(checked, by.Now))
			result.checked = append(result.checked, checked)
			result.typesUnknown = result.typesUnknown || checked.TypesUnknown
		}
	}
	switch {
	case !found && source.Named:
		message, code := "there is no Cleaner in this file", codes.FileNoCleaner
		if len(docs) == 0 {
			message, code = "the file is empty", codes.FileEmpty
		}
		problems = append(problems, manifest.Problem{File: source.Name, Line: 1, Code: code, Message: message})
	case len(others) > 0:
		slices.Sort(others)
		o.Note(
			"%s: skipped %s: %s",
			source.Name,
			terminal.Counted(len(others), "other object"),
			strings.Join(slices.Compact(others), ", "),
		)
	}
	return found, nil
}

func kindWord(d *manifest.Document) string {
	switch d.Kind() {
	case "":
		return "without a kind"
	case "Cleaner":
		return "Cleaner of " + d.APIVersion()
	}
	return d.Kind()
}

// summary counts what was found.
func (r *Result) summary() string {
	counts := map[codes.Severity]int{}
	for _, p := range r.Problems {
		counts[p.Code.Severity()]++
	}
	var parts []string
	for _, severity := range []codes.Severity{codes.SeverityError, codes.SeverityWarning, codes.SeverityNote} {
		if n := counts[severity]; n > 0 {
			parts = append(parts, terminal.Counted(n, string(severity)))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no problems"}
	}
	return fmt.Sprintf(
		"%s in %s: %s",
		terminal.Counted(len(r.Cleaners), "Cleaner"),
		terminal.Counted(r.files, "file"),
		strings.Join(parts, ", "),
	)
}
