// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// incompleteError says why a run would touch nothing.
func (j *job) incompleteError(cleaner *v1alpha1.Cleaner, found *run.Preview) error {
	f := &terminal.Failure{
		Exit: codes.ExitPartial,
		Code: codes.ViewIncomplete,
		Err:  fmt.Errorf("cleaner %q: %w", cleaner.Name, found.Incomplete),
	}
	var kind *selector.UnknownKindError
	unjudged := first(found, v1alpha1.OutcomeNotEvaluated)
	switch {
	case errors.As(found.Incomplete, &kind):
		f.Exit, f.Code = codes.ExitError, codes.KindUnknown
	case isForbidden(found.Incomplete) && strings.Count(found.Incomplete.Error(), forbiddenWords) > fewForbidden:
		f.Code, f.Hint = codes.ClusterForbidden, j.rightsHint(cleaner)
		f.Err = fmt.Errorf("cleaner %q: %s", cleaner.Name, firstForbidden(found.Incomplete.Error()))
	case isForbidden(found.Incomplete):
		f.Code, f.Hint = codes.ClusterForbidden, "the operator may have the right; see: kubectl auth can-i --list; or preview as somebody who has it: --as USER"
	case unjudged != nil:
		f.Hint = j.lookAt(cleaner, unjudged, "the Cleaner would touch nothing until then")
	default:
		if place := check.PlaceOf(j.documents[cleaner], cleaner, 0, found.Incomplete.Error()); place != "" {
			f.Hint = "fix the script at " + place + "; the Cleaner would touch nothing until then"
		}
	}
	return f
}

// unjudgedError says that a run would leave objects alone that could not be judged.
func (j *job) unjudgedError(cleaner *v1alpha1.Cleaner, found *run.Preview, result result) error {
	unjudged := first(found, v1alpha1.OutcomeNotEvaluated)
	return &terminal.Failure{
		Exit: codes.ExitPartial,
		Code: codes.ObjectUnjudged,
		Err: fmt.Errorf(
			"cleaner %q: %s could not be judged; the first is %s: %s",
			cleaner.Name,
			terminal.Counted(int(result.unjudged), "object"),
			unjudged.Object,
			unjudged.Detail,
		),
		Hint: j.lookAt(cleaner, unjudged, "the Cleaner would leave them alone until then (onPartialView: Skip)"),
	}
}

const (
	// forbiddenWords are in each refusal of the API server.
	forbiddenWords = " is forbidden: "
	// fewForbidden is how many refusals are reported one by one.
	fewForbidden = 3
)

// firstForbidden leaves of all refusals, which have a line each, the first one, and says how many more there are.
func firstForbidden(text string) string {
	var lines []string
	first, more := -1, 0
	for line := range strings.SplitSeq(text, "\n") {
		switch isRefusal := strings.Contains(line, forbiddenWords); {
		case isRefusal && first >= 0:
			more++
			continue
		case isRefusal:
			first = len(lines)
		}
		lines = append(lines, line)
	}
	lines[first] += fmt.Sprintf("; and %d more are forbidden", more)
	return strings.Join(lines, "\n")
}

// forbiddenError says that the account of --as may not do what a run would do.
func (j *job) forbiddenError(cleaner *v1alpha1.Cleaner, why string) error {
	return &terminal.Failure{
		Exit: codes.ExitPartial,
		Code: codes.ClusterForbidden,
		Err:  fmt.Errorf("cleaner %q: a run with these rights would fail: %s", cleaner.Name, why),
		Hint: j.rightsHint(cleaner),
	}
}

// rightsHint is the command that prints the rights that the Cleaner needs, for the account of --as.
func (j *job) rightsHint(cleaner *v1alpha1.Cleaner) string {
	of := terminal.ShellWord(cleaner.Name)
	if d := j.documents[cleaner]; d != nil {
		of = "-f " + terminal.ShellWord(d.File)
	}
	namespace, name, isAccount := strings.Cut(strings.TrimPrefix(j.Overrides.AuthInfo.Impersonate, accountPrefix), ":")
	switch {
	case cleaner.Spec.ServiceAccountRef != nil:
	case isAccount:
		of += " --service-account " + namespace + "/" + name
	default: // a user, who has no account to give them to
		of += " --service-account NAMESPACE/NAME"
	}
	return "the rights that it needs: " + terminal.Program + " rbac " + of
}

// accountPrefix begins the user name of a ServiceAccount.
const accountPrefix = "system:serviceaccount:"

// lookAt is how to go on with an object that could not be judged.
func (j *job) lookAt(cleaner *v1alpha1.Cleaner, first *run.PreviewItem, untilThen string) string {
	if cleaner.UID == "" || j.dump != nil {
		return "fix the expression" + j.placeOf(cleaner, first) + ", or exclude such objects; " + untilThen
	}
	only := terminal.ShellWord(cluster.RefOf(first.Object).String())
	return fmt.Sprintf("run: %s preview %s --only %s", terminal.Program, cleaner.Name, only)
}

// placeOf is where in a file that stands which failed on an object: " at cleaner.yaml:14". It is empty for a Cleaner of
// the cluster.
func (j *job) placeOf(cleaner *v1alpha1.Cleaner, item *run.PreviewItem) string {
	if place := check.PlaceOf(j.documents[cleaner], cleaner, item.Selector, item.Detail); place != "" {
		return " at " + place
	}
	return ""
}

// first is the first object of which that became. Nil when there is none.
func first(found *run.Preview, result v1alpha1.OutcomeResult) *run.PreviewItem {
	for i := range found.Items {
		if found.Items[i].Result == result {
			return &found.Items[i]
		}
	}
	return nil
}

// isForbidden looks through joined errors too, where errors.As stops at the first that fits.
func isForbidden(err error) bool {
	for _, inner := range terminal.Unjoined(err) {
		if apierrors.IsForbidden(inner) ||
			(inner != err && isForbidden(inner)) { //nolint:errorlint // the same value, not of the same kind
			return true
		}
	}
	inner := errors.Unwrap(err)
	return inner != nil && isForbidden(inner)
}
