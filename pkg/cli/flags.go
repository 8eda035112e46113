// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// mistaken says what is wrong with a flag. pflag says it in the words of the functions that it calls.
func mistaken(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if why := noScope(cmd, unknown.GetSpecifiedName()); why != "" {
			return why
		}
		if why := noSelector(cmd, unknown.GetSpecifiedName()); why != "" {
			return why
		}
	}
	if unknown != nil && unknown.GetSpecifiedShortnames() == "" {
		return err.Error() + nearFlag(cmd, unknown.GetSpecifiedName())
	}
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	wants := map[string]string{
		"int": "a whole number, for example 1", "int64": "a whole number, for example 1", "bool": "true or false",
		"duration": "a time such as 90s or 5m",
	}[wrong.GetFlag().Value.Type()]
	if choice, ok := wrong.GetFlag().Value.(*terminal.Choice); ok {
		wants = terminal.OrList(choice.Allowed())
	}
	if wants == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s %q cannot be read; write %s", wrong.GetFlag().Name, wrong.GetValue(), wants)
}

// nearFlag asks whether the flag of a command was meant that is nearest to a name.
func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := suggest.Nearest(name, names); near != "" {
		return "; did you mean --" + near + "?"
	}
	return ""
}

// completeChoices lets the shell complete the values of flags that have a few.
func completeChoices(cmd *cobra.Command) {
	each := func(flag *pflag.Flag) {
		if choice, ok := flag.Value.(*terminal.Choice); ok {
			// It fails for a flag that has a completion already.
			_ = cmd.RegisterFlagCompletionFunc(
				flag.Name,
				cobra.FixedCompletions(choice.Allowed(), cobra.ShellCompDirectiveNoFileComp),
			)
		}
	}
	cmd.PersistentFlags().VisitAll(each)
	cmd.Flags().VisitAll(each)
	for _, sub := range cmd.Commands() {
		completeChoices(sub)
	}
}
