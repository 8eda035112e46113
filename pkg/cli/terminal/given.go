// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"regexp"
	"strings"
)

// Repeat makes the commands in notes and hints repeat the flags that say which cluster is meant: a command that lacks
// them would act on another cluster. flags are as they may be given again: " --context staging". Text that has them
// already stays as it is.
func (s *Session) Repeat(flags string) { s.errOut.flags = flags }

// Repeated is a text for the standard output whose commands repeat these flags, too. The standard output does not do so
// by itself, because it also has the texts of objects.
func (s *Session) Repeated(text string) string { return repeating(text, s.errOut.flags) }

// commands are those of the plugin that use a cluster, and those of kubectl that messages name. What is followed by a
// colon or --help is about the command itself.
var commands = regexp.MustCompile(
	`\bkubectl (cleaner (?:scan|why|preview|runs?|approve|reject|restore|rbac|doctor|dashboard|stop|suspend|resume|cancel|notify)|` +
		`get|describe|apply|annotate|auth|config view --minify|create|delete|edit|explain|label|logs|patch|replace)\b(?:: | --help)?|\bkubectl (?:-n )`)

// repeating is a text whose commands have the flags.
func repeating(text, flags string) string {
	if flags == "" || strings.Contains(text, flags) {
		return text
	}
	return commands.ReplaceAllStringFunc(text, func(command string) string {
		switch before, namespaced := strings.CutSuffix(command, " -n "); {
		case namespaced:
			return before + flags + " -n "
		case strings.HasSuffix(command, ": "), strings.HasSuffix(command, "--help"):
			return command
		}
		return command + flags
	})
}
