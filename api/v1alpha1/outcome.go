// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

// RunCounts count the objects of a run. Each matched object is acted, skipped, failed or, in a Scan or in a plan, only
// listed; failed also counts the objects that could not be judged.
type RunCounts struct {
	// considered is how many objects the selectors selected and judged.
	// +optional
	Considered int64 `json:"considered"`

	// matched is how many of them matched: their selector with its conditions and scripts, aggregatedSelection,
	// occurrenceThreshold and forSeconds.
	// +optional
	Matched int64 `json:"matched"`

	// acted is how many were deleted or changed. For action Delete, it also counts the objects that did not exist any more
	// when the run reached them.
	// +optional
	Acted int64 `json:"acted"`

	// skipped is how many matched, or may match (Unknown), and were left alone, each for a reason.
	// +optional
	Skipped int64 `json:"skipped"`

	// failed is how many could not be judged, deleted or changed.
	// +optional
	Failed int64 `json:"failed"`

	// freedBytes is the capacity of the PersistentVolumeClaims and PersistentVolumes that were deleted, as far as the run
	// read it. Volumes with the reclaim policy Retain do not count, but their claims do.
	// +optional
	FreedBytes int64 `json:"freedBytes,omitempty"`
}

// OutcomeResult is what became of one object in a run.
// +kubebuilder:validation:Enum=Planned;Matched;Deleted;Terminating;Transformed;Unchanged;FoundGone;Gone;Replaced;Changed;Conflict;Protected;DryRun;Denied;KindGone;Abandoned;NotActed;Interrupted;NotEvaluated;Unknown;Failed
type OutcomeResult string

const (
	// OutcomePlanned is an object that a run was going to act on when it recorded what it was going to touch. If the run
	// was cut off, the object may or may not have been touched. If the run made a plan, the object was not touched.
	OutcomePlanned OutcomeResult = "Planned"
	// OutcomeMatched is an object that a Scan reports. The reason of one that is protected begins with "protected:".
	OutcomeMatched OutcomeResult = "Matched"
	// OutcomeDeleted is an object that the server deleted for this run, as its answer or a live read proves.
	OutcomeDeleted OutcomeResult = "Deleted"
	// OutcomeTerminating is an object that the API server is deleting; it still exists because of finalizers or its grace
	// period.
	OutcomeTerminating OutcomeResult = "Terminating"
	// OutcomeTransformed is an object that this run changed.
	OutcomeTransformed OutcomeResult = "Transformed"
	// OutcomeUnchanged is an object that transform or mergePatch does not change. Nothing was sent.
	OutcomeUnchanged OutcomeResult = "Unchanged"
	// OutcomeFoundGone is an object that was gone when a run that had been cut off was taken over. It is not known
	// whether that run or somebody else deleted it.
	OutcomeFoundGone OutcomeResult = "FoundGone"
	// OutcomeGone is an object that somebody else deleted first.
	OutcomeGone OutcomeResult = "Gone"
	// OutcomeReplaced is an object that was created again under the same name since it was judged. It was left alone.
	OutcomeReplaced OutcomeResult = "Replaced"
	// OutcomeChanged is an object that changed since it was judged and does not match any more. It was left alone.
	OutcomeChanged OutcomeResult = "Changed"
	// OutcomeConflict is an object that kept changing while the run tried to act on it. It was left alone.
	OutcomeConflict OutcomeResult = "Conflict"
	// OutcomeProtected is an object that no Cleaner may touch, or whose deletion would also delete a protected object. It
	// was left alone.
	OutcomeProtected OutcomeResult = "Protected"
	// OutcomeDryRun is an object that was not touched because the operator runs with --dry-run, because all acting is
	// stopped, or because of spec.scanUntil.
	OutcomeDryRun OutcomeResult = "DryRun"
	// OutcomeDenied is an object that an admission webhook, a policy or a quota did not let the run delete or change.
	OutcomeDenied OutcomeResult = "Denied"
	// OutcomeKindGone is an object whose kind the API server does not serve any more. It is not known what became of it.
	OutcomeKindGone OutcomeResult = "KindGone"
	// OutcomeAbandoned is an object for which a run that was cut off was not resumed: the object had changed, or it was
	// too late. It was left alone.
	OutcomeAbandoned OutcomeResult = "Abandoned"
	// OutcomeNotActed is an object that matched and was left alone: a limit was exceeded, the run could not read or judge
	// everything, or the object is not in the approved plan.
	OutcomeNotActed OutcomeResult = "NotActed"
	// OutcomeInterrupted is an object that the run did not reach before it was stopped.
	OutcomeInterrupted OutcomeResult = "Interrupted"
	// OutcomeNotEvaluated is an object that could not be judged. It was left alone.
	OutcomeNotEvaluated OutcomeResult = "NotEvaluated"
	// OutcomeUnknown is an object for which it is not known whether it has the finding, because a source that could name
	// it may not be read. It was left alone.
	OutcomeUnknown OutcomeResult = "Unknown"
	// OutcomeFailed is an object that could not be deleted or changed.
	OutcomeFailed OutcomeResult = "Failed"
)

// IsMatch reports whether the object is known to match.
func (r OutcomeResult) IsMatch() bool { return r != OutcomeNotEvaluated && r != OutcomeUnknown }

// IsFailure reports whether the run wanted to delete or change the object and could not.
func (r OutcomeResult) IsFailure() bool {
	return r == OutcomeFailed || r == OutcomeDenied || r == OutcomeKindGone
}

// ObjectOutcome is one object and what became of it.
type ObjectOutcome struct {
	// apiVersion is the object's group and version.
	// +required
	APIVersion string `json:"apiVersion"`

	// kind is the object's kind.
	// +required
	Kind string `json:"kind"`

	// namespace is the object's namespace. Empty for a cluster-scoped object.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// name is the object's name.
	// +required
	Name string `json:"name"`

	// uid is the object's UID. Absent in a Cleaner's status.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// outcome is what became of the object, in one word, for example Deleted, Matched or Protected.
	// +required
	Outcome OutcomeResult `json:"outcome"`

	// reason says why an object was left alone or failed, or what the API server did not keep of a change.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message is the script's message for the object.
	// +optional
	Message string `json:"message,omitempty"`

	// change is the merge patch that a Transform would send, cut to 1 KiB. It is left out for Secrets. Only in a plan.
	// +optional
	Change string `json:"change,omitempty"`

	// planHash is a hash of what is planned for the object. Only in a plan.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PlanHash string `json:"planHash,omitempty"`
}

// ObjectTally is how many objects of one kind and namespace had the same outcome.
type ObjectTally struct {
	// apiVersion is the objects' group and version.
	// +required
	APIVersion string `json:"apiVersion"`

	// kind is the objects' kind.
	// +required
	Kind string `json:"kind"`

	// namespace is the objects' namespace. Empty for cluster-scoped objects.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// outcome is what became of the objects, in one word.
	// +required
	Outcome OutcomeResult `json:"outcome"`

	// count is how many objects there are.
	// +required
	Count int64 `json:"count"`
}

// Size is about how many bytes the entry takes in the stored object.
func (o *ObjectOutcome) Size() int {
	return entryOverhead + len(o.APIVersion) + len(o.Kind) + len(o.Namespace) + len(o.Name) + len(o.UID) +
		len(o.Outcome) + len(o.Reason) + len(o.Message) + len(o.Change) + len(o.PlanHash)
}

// Printable is a text of others, such as a script or an admission policy, as it may be stored: kubectl prints it to a
// terminal, and cannot print some control characters as YAML. These become spaces, except for line breaks and tabs.
// Characters that change the order of the text around them are left out.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r >= ' ' && r <= '~':
			return r
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// Truncate makes text printable, cuts it to at most limit bytes, between two characters, and marks the cut.
func Truncate(text string, limit int) string {
	const mark = "…"
	text = Printable(text)
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
