// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// The files of a test directory. cleanerFile is what makes a directory one.
const (
	cleanerFile     = "cleaner.yaml"
	matchingFile    = "matching.yaml"
	nonMatchingFile = "non-matching.yaml"
	resourcesFile   = "resources.yaml"
	updatedFile     = "updated.yaml"
)

// options are the flags of test.
type options struct {
	*terminal.Session
	output string
	now    string
	only   string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "test DIR...",
		Short: "Try Cleaners on objects in files, without a cluster",
		Long: "Tries the Cleaner of each directory in or below DIR that has a cleaner.yaml, on the objects in the other files of that directory:\n\n" +
			"  matching.yaml      must match\n" +
			"  non-matching.yaml  must not match\n" +
			"  resources.yaml     what an aggregatedSelection looks at; then matching.yaml lists exactly what it must choose.\n" +
			"                     The objects that may use those of a finding. The Namespaces that a namespaceSelector selects\n" +
			"  updated.yaml       what transform or mergePatch must make of the objects in matching.yaml, in their order\n" +
			"  events.yaml        the events of the objects, for includeEvents, as kubectl get events -o yaml prints them\n" +
			"  metrics.yaml       the results of metricQueries by their names; one that finds no series is left out\n" +
			"  logs.yaml          the logs of Pods, for logSource: NAMESPACE/POD, below it CONTAINER or CONTAINER/previous, and the log\n\n" +
			"An object goes through the whole selector: kind, namespace, labels, excludeDeleted, minAgeSeconds, finding,\n" +
			"matchConditions and evaluate. A namespaceSelector matches every namespace that is not in resources.yaml. An object\n" +
			"of another version than the selector's is judged as if it had the selector's version. An object without a namespace\n" +
			"is judged as if its namespace were selected. A note says so. Another note says that a run would leave a matching\n" +
			"object alone, because it is protected. For that note, it uses the default operator namespace and the default of\n" +
			"--protected-namespaces.",
		Example: "  kubectl cleaner test cleaners/\n  kubectl cleaner test cleaners/ --run unused --now 2026-01-31T12:00:00Z -o junit",
		Args:    terminal.AtLeastOne("a directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().
		VarP(terminal.NewChoice(&o.output, "text", "json", "junit"), "output", "o", "what to print: text, json or junit")
	cmd.Flags().
		StringVar(&o.now, "now", "", "the time at which the Cleaners run, for example 2026-01-31T12:00:00Z (default: now)")
	cmd.Flags().StringVar(&o.only, "run", "", "a regular expression: only the directories whose path it matches are tried")
	return cmd
}

func (o *options) run(ctx context.Context, cmd *cobra.Command, paths []string) error {
	now, only := o.Now(), (*regexp.Regexp)(nil)
	if o.now != "" {
		parsed, err := time.Parse(time.RFC3339, o.now)
		if err != nil {
			return terminal.UsageError(cmd, "--now "+terminal.Quoted(o.now)+" is not a time such as 2026-01-31T12:00:00Z")
		}
		now = parsed
	}
	if o.only != "" {
		parsed, err := regexp.Compile(o.only)
		if err != nil {
			return terminal.UsageError(cmd, fmt.Sprintf("--run is not a regular expression: %v", err))
		}
		only = parsed
	}
	directories, err := testDirectories(paths, only)
	if err != nil {
		return err
	}
	pool := sandbox.New(o.Scripts)
	defer pool.Close()
	checker, err := check.New(o.Session, pool)
	if err != nil {
		return err
	}
	checker.Now = now
	report := Report{Directories: []*result{}}
	for _, dir := range directories {
		result, err := o.try(ctx, checker, dir)
		if err != nil {
			return err
		}
		report.add(result)
		if o.output == "text" {
			result.write(o.Out, o.Paint(o.Out))
		}
	}
	return o.finish(&report)
}

// testDirectories finds the directories that hold a Cleaner to try.
func testDirectories(paths []string, only *regexp.Regexp) ([]string, error) {
	var found []string
	all := 0
	for _, path := range paths {
		before := all
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() || entry.Name() != cleanerFile {
				return nil
			}
			all++
			if dir := filepath.Dir(file); only == nil || only.MatchString(filepath.ToSlash(dir)) {
				found = append(found, dir)
			}
			return nil
		})
		if err != nil {
			return nil, terminal.Fail(codes.FileUnreadable, manifest.Unreadable(path, err), "")
		}
		if all == before {
			return nil, terminal.Fail(codes.TestNothing, fmt.Errorf("there is no %s in or below %s", cleanerFile, path),
				"put the Cleaner into a file of that name, and objects beside it; see: "+terminal.Program+" test --help")
		}
	}
	if len(found) == 0 {
		return nil, terminal.Fail(codes.TestNothing, fmt.Errorf("--run %s matches none of %s", only, "the directories"), "")
	}
	return found, nil
}

// try tries the Cleaner of one directory. The error ends all.
func (o *options) try(ctx context.Context, checker *check.Checker, dir string) (*result, error) {
	result := &result{Directory: dir, Failures: []failure{}}
	files, problems, err := readTest(dir)
	if err != nil {
		return nil, terminal.Fail(codes.FileUnreadable, err, "")
	}
	for _, p := range problems {
		result.fail(failure{File: p.File, Line: p.Line, Message: problemWords(p)})
	}
	if files == nil {
		return result, nil
	}
	checked, err := checker.Check(ctx, files.cleaner)
	if err != nil {
		return nil, err
	}
	for _, p := range checked.Problems {
		if p.Code.Severity() == codes.SeverityError {
			result.fail(failure{File: p.File, Line: p.Line, Message: problemWords(p)})
		}
	}
	for _, name := range files.inputs.unknown(checked.Cleaner) {
		result.fail(
			failure{
				File:    filepath.Join(dir, metricsFile),
				Line:    1,
				Message: fmt.Sprintf("no metricQueries have the name %q", name),
			},
		)
	}
	if len(result.Failures) > 0 {
		return result, nil
	}
	trial := &trial{files: files, result: result, mask: object.Masker(files.secrets()...), protection: guard.Protection{
		Operator: cluster.OperatorNamespace(""), Namespaces: strings.Split(guard.DefaultProtectedNamespaces, ","),
	}}
	trial.Cleaner, trial.Now = checked.Cleaner, checker.Now
	trial.Session = checker.Pool.Open(
		sandbox.Options{Now: checker.Now, Seed: checker.Now.Unix(), Print: func(line string) {
			if !trial.Explaining.Load() {
				fmt.Fprintf(o.ErrOut, "%s: script printed: %s\n", dir, trial.mask(line))
			}
		}},
	)
	defer trial.Session.Close()
	err = trial.run(ctx)
	if stopped := context.Cause(ctx); stopped != nil {
		return nil, stopped
	}
	return result, err
}

func problemWords(p manifest.Problem) string {
	words := p.Message
	if p.Field != "" {
		words = p.Field + ": " + words
	}
	if p.Hint != "" {
		words += "; " + p.Hint
	}
	return words + "   [" + string(p.Code) + "]"
}

// finish prints the report and says how it went.
func (o *options) finish(report *Report) error {
	var err error
	switch o.output {
	case "json":
		err = terminal.WriteJSON(o.Out, report)
	case "junit":
		err = report.junit(o.Out)
	}
	fmt.Fprintln(o.ErrOut, report.summary())
	if err == nil && report.Failed > 0 {
		err = terminal.Quit(codes.ExitError)
	}
	return err
}
