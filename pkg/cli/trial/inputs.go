// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// The files of a test directory with the inputs of its objects. Without a file, its input is not at hand.
const (
	eventsFile  = "events.yaml"
	metricsFile = "metrics.yaml"
	logsFile    = "logs.yaml"
)

// inputFiles are what these files hold.
type inputFiles struct {
	hasEvents bool
	events    []*tested
	// metrics are numbers by the names of queries.
	metrics map[string]json.Number
	// logs are texts by Pod (NAMESPACE/NAME) and container, or container/previous.
	logs map[string]map[string]string
}

// read reads the files. The problems say what is wrong in them.
func (in *inputFiles) read(dir string) (problems []manifest.Problem, err error) {
	path := filepath.Join(dir, eventsFile)
	in.events, problems, err = readObjects(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		in.hasEvents = true
	}
	for _, event := range in.events {
		if event.Kind.GroupVersionKind != (schema.GroupVersionKind{Version: "v1", Kind: "Event"}) {
			problems = append(problems, manifest.Problem{
				File: event.file, Line: event.line, Code: codes.FieldValue, Message: fmt.Sprintf("%s is no Event", event),
				Hint: "write events with apiVersion: v1 and kind: Event, as kubectl get events -o yaml prints them",
			})
		}
	}
	for _, file := range []struct {
		name string
		into any
		hint string
	}{
		{metricsFile, &in.metrics, "write the names of metricQueries and their results, for example cpu: 0.5; a query that finds no series is left out"},
		{logsFile, &in.logs, "write NAMESPACE/POD, and below it the names of containers and their logs; those of earlier instances are CONTAINER/previous"},
	} {
		path := filepath.Join(dir, file.name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, file.into); err != nil {
			problems = append(
				problems,
				manifest.Problem{
					File:    path,
					Line:    1,
					Code:    codes.FieldValue,
					Message: "it cannot be read: " + terminal.OneLine(err.Error()),
					Hint:    file.hint,
				},
			)
		}
	}
	return problems, nil
}

// given are the inputs for one selector.
func (in *inputFiles) given(spec *v1alpha1.ResourceSelector) (*selector.Given, error) {
	given := &selector.Given{}
	if in.hasEvents {
		given.Events = inputs.NewEvents(schema.GroupKind{Group: spec.Group, Kind: spec.Kind})
		for _, event := range in.events {
			if err := given.Events.Add(event.Raw); err != nil {
				return nil, fmt.Errorf("%s: %w", eventsFile, err)
			}
		}
	}
	if in.metrics != nil {
		results, err := in.results(spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", metricsFile, err)
		}
		given.Metrics = results
	}
	if in.logs != nil {
		given.Log = in.log
	}
	return given, nil
}

// results are the metrics of one selector.
func (in *inputFiles) results(spec *v1alpha1.ResourceSelector) (object.JSON, error) {
	of := map[string]float64{}
	for _, query := range spec.MetricQueries {
		number, found := in.metrics[query.Name]
		if !found {
			continue
		}
		result, err := number.Float64()
		if err != nil {
			return nil, fmt.Errorf("%s is not a number", query.Name)
		}
		of[query.Name] = result
	}
	return inputs.WriteMetrics(of)
}

// unknown are the metrics that are results of no query.
func (in *inputFiles) unknown(cleaner *v1alpha1.Cleaner) []string {
	names := maps.Clone(in.metrics)
	for _, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		for _, query := range spec.MetricQueries {
			delete(names, query.Name)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (in *inputFiles) log(pod object.Object, wanted inputs.Log) (string, error) {
	name := wanted.Container
	if wanted.Previous {
		name += "/previous"
	}
	text, found := in.logs[pod.Namespace+"/"+pod.Name][name]
	if !found {
		return "", fmt.Errorf(
			"%s does not have it: write %s: and below it %s: and the log, which may be \"\"",
			logsFile,
			pod.Namespace+"/"+pod.Name,
			name,
		)
	}
	return text, nil
}
