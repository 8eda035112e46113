// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package initialize is kubectl cleaner init: it lists the recipes, and writes the Cleaner of one, as its flags say.
package initialize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// options are the flags of init.
type options struct {
	*terminal.Session
	list          bool
	group, output string
	changes       changes
}

// listFlags go with --list only, all others with a recipe.
var listFlags = []string{"list", "group", "output"}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "init NAME | --list [WORD...]",
		Short: "Write a Cleaner from a recipe",
		Long: "Writes the Cleaner of a recipe to the standard output, with comments that say what it finds, what else it may select, which rights\n" +
			"it needs, and how to let it act. It only reports, unless you set --action. --list lists the recipes. With WORDs, it lists only the\n" +
			"recipes that match all words. If no recipe does, it lists those that match the most words. No cluster is needed.\n\n" +
			"--for sets finding.forSeconds. If the recipe does not have it, --for sets the one duration in its matchConditions. If there is\n" +
			"none, --for sets minAgeSeconds. If minAgeSeconds equals the time that --for replaces, it changes, too. If the recipe has no\n" +
			"time at all, --for adds finding.forSeconds to its findings. A flag that does not fit the recipe is an error.",
		Example: "  kubectl cleaner init --list\n  kubectl cleaner init --list crash\n" +
			"  kubectl cleaner init unused --kind ConfigMap,Secret --for 30d > cleaner.yaml\n" +
			"  kubectl cleaner init finished-jobs --namespace-selector team=shop --schedule '0 4 * * *' --action Delete > cleaner.yaml",
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
		ValidArgsFunction: terminal.CompleteFirst(completeNames),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.list, "list", false, "list the recipes, with what each finds and needs")
	flags.Var(
		terminal.NewChoice(&o.group, append([]string{"all"}, recipes.Groups...)...),
		"group",
		"with --list: only the recipes of this group",
	)
	flags.VarP(
		terminal.NewChoice(&o.output, "text", "json", "name"),
		"output",
		"o",
		"with --list: what to print: text, json or name",
	)
	o.changes.addFlags(flags)
	_ = cmd.RegisterFlagCompletionFunc("kind", completeKinds) // it fails only for a flag that does not exist
	return cmd
}

// completeKinds completes the last of several kinds that the recipe selects.
func completeKinds(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	known, err := read()
	if err != nil || len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var kinds []string
	for _, r := range known {
		for _, kind := range r.kinds {
			if r.Name == args[0] {
				kinds = append(kinds, kind.Kind)
			}
		}
	}
	return terminal.CompleteLast(begun, kinds)
}

func completeNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := recipes.All()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, r := range all {
		names = append(names, cobra.CompletionWithDesc(r.Name, r.Summary()))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	if err := o.validate(cmd, args); err != nil {
		return err
	}
	known, err := read()
	if err != nil {
		return err
	}
	if o.list {
		return o.print(known, args)
	}
	i := slices.IndexFunc(known, func(r recipe) bool { return r.Name == args[0] })
	if i < 0 {
		return unknown(known, args[0])
	}
	text, notes, err := o.write(cmd.Context(), &known[i])
	if err != nil {
		return err
	}
	fmt.Fprint(o.Out, text)
	for _, note := range notes {
		o.Note("%s", note)
	}
	if o.changes.act != "" && o.changes.act != string(v1alpha1.ActionScan) {
		o.Note("its action is %s; its recipe says: %s", o.changes.act, strings.Join(strings.Fields(known[i].Act), " "))
	}
	o.Note("to see what it would find: kubectl cleaner preview -f FILE")
	return nil
}

// validate refuses flags that do not go together.
func (o *options) validate(cmd *cobra.Command, args []string) error {
	var wrong []string
	if !o.list {
		wrong = misplaced(cmd, listFlags, "can be used only with --list")
	} else {
		wrong = misplaced(cmd, changeFlags, "can be used only with the name of a recipe, not with --list")
	}
	switch {
	case len(wrong) > 0:
	case o.list:
	case len(args) == 0:
		wrong = append(wrong, "needs the name of a recipe; --list shows them")
	case len(args) > 1:
		wrong = append(wrong, "takes one recipe, and was given "+fmt.Sprint(len(args))+"; to look for words, use --list")
	case cmd.Flags().Changed("namespace") && cmd.Flags().Changed("namespace-selector"):
		wrong = append(wrong, "--namespace and --namespace-selector exclude each other")
	case cmd.Flags().Changed("all-namespaces") && cmd.Flags().Changed("namespace-selector"):
		wrong = append(wrong, "--all-namespaces and --namespace-selector exclude each other")
	}
	if len(wrong) > 0 {
		return terminal.UsageError(cmd, strings.Join(wrong, "; "))
	}
	return nil
}

// misplaced says of each of the flags that was given why it may not be.
func misplaced(cmd *cobra.Command, flags []string, why string) (wrong []string) {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			wrong = append(wrong, "--"+name+" "+why)
		}
	}
	return wrong
}

// unknown says that there is no such recipe, and which may have been meant: those about all words of the name, or else
// the nearest name, or else those about one of the words. The nearest name comes first for one word: what is left of a
// mistyped one without its ending begins other words.
func unknown(known []recipe, name string) error {
	hint := "to see all: kubectl cleaner init --list"
	words := wordsOf([]string{name})
	about := namesOf(withWords(known, words))
	var near []string
	if len(about) == 0 || len(words) == 1 {
		near = nearest(known, name)
	}
	for _, word := range slices.Backward(words) { // the last one is the kind in most names
		if len(about) == 0 {
			about = namesOf(withWords(known, []string{word}))
		}
	}
	switch {
	case len(words) == 0:
	case len(near) == 1:
		hint = "did you mean " + terminal.Quoted(near[0]) + "?"
	case len(near) > 1:
		hint = "recipes about it: " + terminal.Shortened(near, 5)
	case len(about) > 0:
		hint = "recipes about it: " + terminal.Shortened(about, 5)
	}
	return terminal.Fail(codes.RecipeNotFound, errors.New("there is no recipe "+terminal.Quoted(name)), hint)
}

func namesOf(all []recipe) (names []string) {
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names
}

// write is the Cleaner as the flags say, with the README above it. What lint would say of it is an error.
func (o *options) write(ctx context.Context, r *recipe) (text string, notes []string, err error) {
	r = o.changes.retimed(r)
	body, notes, err := o.changes.apply(r)
	if err != nil {
		return "", nil, terminal.Fail(codes.RecipeRefused, fmt.Errorf("the recipe %s: %w", r.Name, err), "")
	}
	text = header(r, o.changes.words()) + body
	documents, problems := (&manifest.Source{Name: "the Cleaner", Text: []byte(text)}).Documents()
	pool := sandbox.New(o.Scripts)
	defer pool.Close()
	checker, err := check.New(o.Session, pool)
	if err != nil {
		return "", nil, err
	}
	for _, d := range documents {
		checked, err := checker.Check(ctx, d)
		if err != nil {
			return "", nil, err
		}
		problems = append(problems, checked.Problems...)
	}
	wrong := refusals(problems)
	if len(wrong) > 0 {
		err := fmt.Errorf("the recipe %s cannot be written with these flags: %w", r.Name, errors.Join(wrong...))
		return "", nil, terminal.Fail(codes.RecipeRefused, err, "change or remove the flag that causes this")
	}
	return text, notes, nil
}

// refusals are the errors and warnings among the problems. What is wrong with several selectors is reported once.
func refusals(problems []manifest.Problem) []error {
	var wrong []error
	seen := map[string]bool{}
	for _, p := range problems {
		words := strings.Join(terminal.Compact([]string{p.Message, p.Hint}), "; ")
		if p.Code.Severity() == codes.SeverityNote || seen[words] {
			continue
		}
		seen[words] = true
		wrong = append(wrong, errors.New(strings.TrimPrefix(p.Field, "spec.resourcePolicySet.")+": "+words))
	}
	return wrong
}
