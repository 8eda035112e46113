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

const (
	// Events are the events of the object: a list of maps with reason, message, type, count and lastTimestamp, newest
	// first.
	Events Input = "events"
	// Metrics are the results of the selector's queries: a map from their names to numbers.
	Metrics Input = "metrics"
	// Finding is what was found of the object: a map from type, reason, confidence and since to texts.
	Finding Input = "finding"
	// Logs are the logs of the Pod. Conditions that look at them are late: see Run.EvaluatePart.
	Logs Input = "logs"
)

// FindingFields are the fields of a finding.
var FindingFields = []string{"type", "reason", "confidence", "since"}

// InputsOf are the inputs that a selector asks for.
func InputsOf(spec *v1alpha1.ResourceSelector) []Input {
	var inputs []Input
	if spec.Finding != nil {
		inputs = append(inputs, Finding)
	}
	if spec.WantsEvents() {
		inputs = append(inputs, Events)
	}
	if spec.WantsMetrics() {
		inputs = append(inputs, Metrics)
	}
	if spec.LogSource != nil {
		inputs = append(inputs, Logs)
	}
	return inputs
}

// typeOf is the type of an input.
func typeOf(input Input) *celgo.Type {
	switch input {
	case Metrics:
		return celgo.MapType(celgo.StringType, celgo.DoubleType)
	case Logs:
		return celgo.StringType
	case Finding:
		return celgo.MapType(celgo.StringType, celgo.StringType)
	}
	return celgo.ListType(celgo.MapType(celgo.StringType, celgo.DynType))
}

func variablesOf(inputs []Input) []celgo.EnvOption {
	options := make([]celgo.EnvOption, 0, len(inputs)+2)
	for _, input := range inputs {
		options = append(options, celgo.Variable(string(input), typeOf(input)))
	}
	return options
}

// Inputs are all inputs.
var Inputs = []Input{Events, Metrics, Finding, Logs}

// unavailable explains the variables that are not there.
func unavailable(cause string) string {
	for _, input := range Inputs {
		if cause == undeclared(string(input)) {
			return input.Absent()
		}
	}
	return cause
}

// Absent says why an input is not there, and what asks for it.
func (i Input) Absent() string {
	switch i {
	case Events:
		return "events are not read: set includeEvents: true in the selector"
	case Metrics:
		return "metrics are not read: set metricSource and metricQueries in the selector"
	case Logs:
		return "logs are not read: set logSource in the selector"
	}
	return "the selector looks for no finding: set finding in the selector"
}

func undeclared(name string) string { return fmt.Sprintf("undeclared reference to '%s'", name) }
