// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// result is what -o json prints of a Cleaner.
type result struct {
	Cleaner string          `json:"cleaner"`
	Action  v1alpha1.Action `json:"action"`
	// Considered is how many objects were judged, Matched how many of them match.
	Considered int64 `json:"considered"`
	Matched    int64 `json:"matched"`
	// WouldAct is how many a run would delete or change. LeftAlone are those of the others that match, each with its
	// reason.
	WouldAct  int64 `json:"wouldAct"`
	LeftAlone int64 `json:"leftAlone"`
	// Failed is how many could not be judged, or not be changed.
	Failed int64 `json:"failed"`
	// Incomplete and LimitExceeded say why a run would touch nothing.
	Incomplete    string `json:"incomplete,omitempty"`
	LimitExceeded string `json:"limitExceeded,omitempty"`
	// Forbidden is what the account of --as may not do of what a run would do.
	Forbidden string        `json:"forbidden,omitempty"`
	Objects   []shownObject `json:"objects"`

	// findings are the objects that are shown and that would be touched or reported, were there no limit.
	findings int64
	// unjudged are those of Failed that could not be judged, and unread those of LeftAlone that may be used by what could
	// not be read.
	unjudged, unread int64
	// denied are those of Failed that the account of --as may not delete or change.
	denied int64
	// reported are those of Matched that no rule protects from a Delete.
	reported int64
	// drops says that the API server would drop a part of a change.
	drops bool
}

type shownObject struct {
	v1alpha1.ObjectOutcome `json:",inline"`
	// Selector is which of the resourceSelectors selects it.
	Selector int `json:"selector"`
	// Patch is the merge patch that a Transform would send.
	Patch map[string]any `json:"patch,omitempty"`
}

func newResult(cleaner *v1alpha1.Cleaner, found *run.Preview, shows func(run.PreviewItem) bool) result {
	result := result{Cleaner: cleaner.Name, Action: found.Action, Considered: found.Considered, Objects: []shownObject{}}
	stop := ""
	switch {
	case found.Incomplete != nil:
		result.Incomplete = terminal.OneLine(found.Incomplete.Error())
		stop = "something could not be read or judged"
	case found.Limit != nil:
		result.LimitExceeded = found.Limit.Error()
		stop = result.LimitExceeded
	}
	for _, item := range found.Items {
		result.count(item.Outcome, stop != "")
		if !shows(item) {
			continue
		}
		o := shownObject{Selector: item.Selector, Patch: maskedPatch(item)}
		o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID = item.Kind.APIVersion(), item.Kind.Kind, item.Namespace, item.Name,
			item.UID
		o.Outcome, o.Reason, o.Message = item.Result, item.Detail, item.Message
		if item.Result == v1alpha1.OutcomePlanned && stop != "" {
			o.Outcome, o.Reason = v1alpha1.OutcomeNotActed, stop
		}
		result.Objects = append(result.Objects, o)
		if item.Result == v1alpha1.OutcomePlanned || item.Result == v1alpha1.OutcomeMatched {
			result.findings++
		}
	}
	return result
}

// count counts an object by its outcome. Of what is planned, nothing is done when the run would be stopped.
func (r *result) count(outcome stage.Outcome, stopped bool) {
	r.drops = r.drops || action.IsOfSchema(outcome)
	switch outcome.Result {
	case v1alpha1.OutcomeMatched:
		r.Matched++
		if outcome.Detail == "" { // why it is protected
			r.reported++
		}
	case v1alpha1.OutcomePlanned:
		r.Matched++
		if stopped {
			r.LeftAlone++
		} else {
			r.WouldAct++
		}
	case v1alpha1.OutcomeNotEvaluated:
		r.Failed++
		r.unjudged++
	case v1alpha1.OutcomeUnknown:
		r.LeftAlone++
		if strings.Contains(outcome.Detail, survey.NotReadable) {
			r.unread++
		}
	case v1alpha1.OutcomeFailed:
		r.Matched++
		r.Failed++
	default:
		r.Matched++
		r.LeftAlone++
	}
}

// print prints what is not printed while it is found.
func (j *job) print() error {
	document := struct {
		Cleaners []result `json:"cleaners"`
	}{j.results}
	switch j.output {
	case "json":
		return terminal.WriteJSON(j.Out, document)
	case "yaml":
		return terminal.WriteYAML(j.Out, document)
	case "name":
		for _, result := range j.results {
			for _, o := range result.Objects {
				if o.Outcome == v1alpha1.OutcomePlanned || o.Outcome == v1alpha1.OutcomeMatched {
					fmt.Fprintln(j.Out, terminal.OneLine(cluster.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()))
				}
			}
		}
	}
	return nil
}
