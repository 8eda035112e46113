// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"

	celgo "github.com/google/cel-go/cel"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Input is a variable that is there only when a field of the selector asks for it.
type Input string

// Events are the events of the object: a list of maps with reason, message, type, count and lastTimestamp, newest first.
const Events Input = "events"

// InputsOf are the inputs that a selector asks for.
func InputsOf(spec *v1alpha1.ResourceSelector) []Input {
	if spec.WantsEvents() {
		return []Input{Events}
	}
	return nil
}

func variablesOf(inputs []Input) []celgo.EnvOption {
	options := make([]celgo.EnvOption, 0, len(inputs)+2)
	for _, input := range inputs {
		options = append(options, celgo.Variable(string(input), celgo.ListType(celgo.MapType(celgo.StringType, celgo.DynType))))
	}
	return options
}

// unavailable explains the variables that are not there.
func unavailable(cause string) string {
	if cause == undeclared(string(Events)) {
		return "events are not read: set includeEvents: true in the selector"
	}
	for _, name := range []string{"metrics", "logs"} {
		if cause == undeclared(name) {
			return fmt.Sprintf("%s is not available in this version; the variables are object and now", name)
		}
	}
	return cause
}

func undeclared(name string) string { return fmt.Sprintf("undeclared reference to '%s'", name) }
