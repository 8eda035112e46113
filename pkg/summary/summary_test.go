// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// of are outcomes of objects of a kind.
func of(kind string, results ...v1alpha1.OutcomeResult) []stage.Outcome {
	outcomes := make([]stage.Outcome, len(results))
	for i, result := range results {
		outcomes[i].Kind.GroupVersionKind, outcomes[i].Act, outcomes[i].Result = corev1.SchemeGroupVersion.WithKind(kind), true, result
	}
	return outcomes
}

// volumesOf are a volume that was deleted, and one that is being deleted.
func volumesOf(deleted, ending int64) []stage.Outcome {
	outcomes := of("PersistentVolume", "Deleted", "Terminating")
	outcomes[0].VolumeBytes, outcomes[1].VolumeBytes = deleted, ending
	return outcomes
}

func TestCounts(t *testing.T) {
	for name, test := range map[string]struct {
		spec     v1alpha1.CleanerRunSpec
		counts   v1alpha1.RunCounts
		outcomes []stage.Outcome
		unjudged int64
		want     string
		much     string
	}{
		"a Scan": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}, v1alpha1.RunCounts{Considered: 3, Matched: 2}, nil, 0, "2 of 3 objects matched.", "",
		},
		"a Scan that could not judge one": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}, v1alpha1.RunCounts{Considered: 1}, nil, 1, "0 of 1 object matched, 1 not judged.", "",
		},
		"a dry run": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan, DryRun: true, DryRunReason: "the operator runs with --dry-run"},
			v1alpha1.RunCounts{Considered: 3, Matched: 2},
			nil, 0, "2 of 3 objects matched; nothing was touched, because the operator runs with --dry-run.", "",
		},
		"a Delete": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete},
			v1alpha1.RunCounts{Considered: 9, Matched: 7, Acted: 4, Skipped: 1, Failed: 3},
			of("ConfigMap", "Deleted", "Terminating", "Gone", "FoundGone", "Protected", "Denied", "Failed"), 1,
			"7 of 9 objects matched; 1 deleted, 1 being deleted, 1 found gone after the run was cut off, 1 gone already, 1 left alone, 1 denied, 1 failed, 1 not judged.", "",
		},
		"a Delete of volumes, of which one waits": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete},
			v1alpha1.RunCounts{Considered: 9, Matched: 2, Acted: 2, FreedBytes: 3 << 30},
			volumesOf(1<<30, 2<<30), 0,
			"2 of 9 objects matched; 1 deleted (1Gi of volumes), 1 being deleted (2Gi of volumes).", "",
		},
		"a Delete of most": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete},
			v1alpha1.RunCounts{Considered: 3, Matched: 2, Acted: 2},
			of("ConfigMap", "Deleted", "Deleted"), 0,
			"2 of 3 objects matched; 2 deleted.", " That is more than half of the objects considered; blastRadiusLimit can stop such a run.",
		},
		"a Transform": {
			v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionTransform},
			v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 2, Skipped: 1},
			of("ConfigMap", "Transformed", "Transformed", "Gone"), 0, "3 of 3 objects matched; 2 changed, 1 left alone.", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			record := &v1alpha1.CleanerRun{Spec: test.spec}
			record.Status.RunCounts = test.counts
			if got := Counts(record, test.outcomes, test.unjudged); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := Much(record, false); got != test.much {
				t.Errorf("much: %q, want %q", got, test.much)
			}
			if got := Much(record, true); got != "" {
				t.Errorf("much of a limited run: %q", got)
			}
		})
	}
}

// TestDeletedWith: what goes with a Namespace is said of a Delete only, and not where none was deleted.
func TestDeletedWith(t *testing.T) {
	for name, test := range map[string]struct {
		action   v1alpha1.Action
		outcomes []stage.Outcome
		says     bool
	}{
		"a Namespace":                {v1alpha1.ActionDelete, of("Namespace", "Deleted"), true},
		"a Namespace that was kept":  {v1alpha1.ActionDelete, of("Namespace", "Protected"), false},
		"a ConfigMap":                {v1alpha1.ActionDelete, of("ConfigMap", "Deleted"), false},
		"a Namespace that was found": {v1alpha1.ActionScan, of("Namespace", "Matched"), false},
	} {
		if got := DeletedWith(&v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: test.action}}, test.outcomes); (got != "") != test.says {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestForbidden: one refusal among joined and wrapped errors counts.
func TestForbidden(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errors.New("no"))
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":        {nil, false},
		"another":        {errors.New("boom"), false},
		"refused":        {refused, true},
		"wrapped":        {fmt.Errorf("listing: %w", refused), true},
		"behind another": {errors.Join(apierrors.NewResourceExpired("gone"), fmt.Errorf("listing: %w", refused)), true},
		"two others":     {errors.Join(apierrors.NewResourceExpired("gone"), errors.New("boom")), false},
	} {
		if got := Forbidden(test.err); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if got, want := OneLine(errors.Join(errors.New("a"), errors.New("b"))), "a; b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
