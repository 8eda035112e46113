// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A selector judges an object in one order, whether it comes from a list or is looked at again: selects, early, the
// logs and late, and then the script. In a list, the logs of several objects are read at once, and the script is some
// objects behind.

// judgement is what is known of an object so far.
type judgement struct {
	// hold is true while all that was asked holds.
	hold bool
	// because is what it says of that.
	because string
	// data are the inputs that were read.
	data object.JSON
}

// Again judges a live object as Select would have.
func (s *Selector) Again(ctx context.Context, o object.Object, scope Scope) (matches bool, message string, err error) {
	if !scope.Contains(o.Namespace) || !s.selects(o) {
		return false, "", nil
	}
	so, err := s.early(ctx, o, s.cheapData)
	if err == nil && so.hold && s.spec.LogSource != nil {
		logs, errLogs := s.logs(ctx, o)
		so, err = s.late(ctx, o, so, logs, errLogs)
	}
	if err != nil || !so.hold || s.judge.Script == "" {
		return so.hold, object.WithManager(so.because, s.managed(o)), err
	}
	match, err := s.judge.Session.EvaluateWith(ctx, s.judge.Script, o, so.data)
	if err != nil {
		return false, "", masked("evaluate", err, o)
	}
	return match.Matching, object.WithManager(joined(so.because, object.Mask(match.Message, o)), s.managed(o)), nil
}

// maxManager bounds the name of what manages an object, in bytes: it comes from an annotation.
const maxManager = 128

// managed names the tool that made an object, such as Helm or Argo CD, and that may make it again. Empty when there is
// none, or when the finding leaves such objects alone, and says so itself.
func (s *Selector) managed(o object.Object) string {
	if s.spec.Finding != nil && !s.spec.Finding.TakesManaged() {
		return ""
	}
	return v1alpha1.Truncate(o.ManagedBy(), maxManager)
}

// selects asks for what can be seen of the object itself.
func (s *Selector) selects(o object.Object) bool {
	return s.hasLabels(o) && s.eligible(o) && !isRunPart(o)
}

// isRunPart reports whether the object is a part of what a run wrote down, such as copies. It is nobody's to clean, and
// says nothing in a list.
func isRunPart(o object.Object) bool {
	return o.Kind.Kind == "Secret" && o.Kind.Group == "" &&
		object.JSON(o.Raw).At("metadata", "labels").Field(v1alpha1.PartLabel) != nil
}

// early asks for the finding, and then the conditions that do not look at logs. read reads the inputs but the logs.
func (s *Selector) early(
	ctx context.Context,
	o object.Object,
	read func(context.Context, object.Object) (object.JSON, error),
) (judgement, error) {
	found, ok := s.found(o)
	if !ok {
		return judgement{}, nil
	}
	data, err := read(ctx, o)
	if err != nil {
		return judgement{}, err
	}
	return s.conditions(ctx, o, judgement{because: found.Reason, data: inputs.Join(found.Data, data)}, false)
}

// late asks the conditions that look at logs. err is why there are no logs.
func (s *Selector) late(
	ctx context.Context,
	o object.Object,
	so judgement,
	logs object.JSON,
	err error,
) (judgement, error) {
	switch {
	case !hasLogs(err):
		return judgement{}, nil
	case err != nil:
		return judgement{}, err
	}
	so.data = inputs.Join(so.data, logs)
	return s.conditions(ctx, o, so, true)
}

// Excludes reports whether an object is not to be chosen because it is being deleted.
func (s *Selector) Excludes(o object.Object) bool { return s.excludeDeleted && o.Deleting }

// found is what was found of an object. It is not ok when the selector asks for a finding that the object does not
// have.
func (s *Selector) found(o object.Object) (found Finding, ok bool) {
	switch {
	case s.spec.Finding == nil:
		return Finding{}, true
	case s.judge.Finding == nil:
		return Finding{}, false
	}
	return s.judge.Finding(o)
}

func (s *Selector) eligible(o object.Object) bool {
	if s.Excludes(o) && !s.judge.Aggregated {
		return false
	}
	return s.minAge == 0 || (!o.Created.IsZero() && s.now.Sub(o.Created) >= s.minAge)
}

// hasLabels asks the labelFilters. The API server was asked with each list; but not every one that is behind it knows
// label selectors.
func (s *Selector) hasLabels(o object.Object) bool {
	if s.labels.Empty() {
		return true
	}
	has := labels.Set{}
	for key, value := range object.JSON(o.Raw).At("metadata", "labels").Fields() {
		has[key.String()] = value.Text()
	}
	return s.labels.Matches(has)
}

// conditions asks the CEL expressions: those that look at logs, or the others. Where there are none, they hold.
func (s *Selector) conditions(ctx context.Context, o object.Object, so judgement, late bool) (judgement, error) {
	asked := s.judge.Conditions
	if asked == nil || late && !asked.HasLate() {
		so.hold = true
		return so, nil
	}
	hold, message, err := asked.EvaluatePart(ctx, o, so.data, late)
	if err != nil {
		return judgement{}, masked("matchConditions", err, o)
	}
	return judgement{hold: hold, because: joined(so.because, message), data: so.data}, nil
}

// joined is the messages of conditions and script.
func joined(because, message string) string {
	if because == "" || message == "" {
		return because + message
	}
	return because + "; " + message
}

// masked says whose error it is, without the values of Secrets.
func masked(field string, err error, objects ...object.Object) error {
	return object.MaskError(object.Masker(objects...), field, err)
}
