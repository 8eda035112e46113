// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// After these times, it is Weak, Likely and Certain that a deletion does not end by itself.
const (
	slowAfter    = 2 * time.Minute
	stuckAfter   = 10 * time.Minute
	certainAfter = 30 * time.Minute
)

// mostFinalizers is how many finalizers of an object are explained.
const mostFinalizers = 10

// confidenceAfter is how sure it is that a deletion does not end by itself. Empty while it may take its time.
func confidenceAfter(age time.Duration) v1alpha1.FindingConfidence {
	switch {
	case age >= certainAfter:
		return v1alpha1.ConfidenceCertain
	case age >= stuckAfter:
		return v1alpha1.ConfidenceLikely
	case age >= slowAfter:
		return v1alpha1.ConfidenceWeak
	}
	return ""
}

// ownFinalizers are those of Kubernetes itself, and what they wait for. The garbage collector's wait for other objects,
// which are stuck themselves.
var ownFinalizers = map[string]string{
	"foregroundDeletion":           "",
	"orphan":                       "",
	"kubernetes.io/pvc-protection": "a Pod still uses the claim",
	"kubernetes.io/pv-protection":  "a claim is still bound to the volume",
	"kubernetes":                   "objects of the namespace are not gone yet",
	"service.kubernetes.io/load-balancer-cleanup": "the cloud's controller deletes the load balancer",
	"batch.kubernetes.io/job-tracking":            "the Job controller counts the Pod",
	"customresourcecleanup.apiextensions.k8s.io":  "objects of the kind are not gone yet",
}

// stuck is what is known of a deletion that does not end from the object itself.
type stuck struct {
	// reason says what it waits for, if that is no finalizer; more is what the object says besides.
	reason, more string
	finalizers   []string
	labels       labels.Set
}

// lookStuck looks at what is being deleted. A Pod is to be gone when its grace period is over, which is part of the
// time that it bears.
func lookStuck(f *Finder, o *object.Parts) *candidate {
	if !o.Deleting {
		return nil
	}
	since := timeAt(o.At("metadata", "deletionTimestamp"))
	confidence := confidenceAfter(f.Now.Sub(since))
	if confidence == "" {
		return nil
	}
	finalizers, isGuarded := finalizersOf(o)
	s := stuck{finalizers: finalizers, labels: labelsAt(o.At("metadata", "labels"))}
	switch o.Kind.GroupKind() {
	case namespaces:
		if len(s.finalizers) == 0 {
			s.finalizers = []string{"kubernetes"} // it stands in the spec
		}
		s.more = remaining(o)
	case pods:
		if len(s.finalizers) == 0 {
			s.reason = lookUnended(o, isGuarded)
		}
	}
	if len(s.finalizers) == 0 && s.reason == "" {
		return nil
	}
	for key, value := range s.labels {
		f.bytes += int64(64 + len(key) + len(value))
	}
	for _, finalizer := range s.finalizers {
		f.bytes += int64(16 + len(finalizer))
	}
	f.explain(stuckKinds...)
	return &candidate{
		found:  &Finding{Confidence: confidence, Since: since},
		decide: func(f *Finder, found Finding) *Finding { return f.explainStuck(found, s) },
	}
}

// finalizersOf are the finalizers of an object, without the garbage collector's, and whether it has any at all.
func finalizersOf(o *object.Parts) (finalizers []string, isGuarded bool) {
	for value := range o.At("metadata", "finalizers").Elements() {
		isGuarded = true
		if waits, own := ownFinalizers[value.Text()]; !own || waits != "" {
			finalizers = append(finalizers, value.Text())
		}
	}
	return finalizers, isGuarded
}

// lookUnended looks at a Pod that no finalizer holds but the garbage collector's. One that no Node runs goes at once,
// and of metadata alone nobody knows the Node.
func lookUnended(o *object.Parts, isGuarded bool) string {
	node := o.At("spec", "nodeName").Text()
	switch {
	case node != "":
		return "its grace period is over, but the kubelet of Node " + node + " has not reported that the Pod has stopped"
	case o.At("spec").Type() == object.Absent && !isGuarded:
		return "its grace period is over, but the kubelet of its Node has not reported that the Pod has stopped"
	}
	return ""
}

// remaining is what the namespace controller says of what it waits for: objects that are left, a group that does not
// answer, or a webhook.
func remaining(o *object.Parts) string {
	var all []string
	for _, typ := range []string{
		"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionContentFailure", "NamespaceContentRemaining",
		"NamespaceFinalizersRemaining",
	} {
		if condition := conditionOf(o, typ); condition.Field("status").Text() == "True" {
			all = append(all, condition.Field("message").Text())
		}
	}
	return strings.Join(all, "; ")
}

// explainStuck says what a deletion waits for, what stands in its way, and in which order that is to be repaired. A
// finalizer guards something, so nobody but a person removes it, and last of all.
func (f *Finder) explainStuck(found Finding, s stuck) *Finding {
	var reasons []string
	add := func(reason string) {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	add(s.reason)
	var dead, running []graph.Name
	isForeign := false
	for i, finalizer := range s.finalizers {
		if i == mostFinalizers {
			add(fmt.Sprintf("more finalizers are left: %d", len(s.finalizers)-i))
			break
		}
		who := owner{text: ownFinalizers[finalizer]}
		if who.text == "" {
			isForeign = true
			who = f.ownerOf(finalizer)
		}
		add(fmt.Sprintf("finalizer %s is left: %s", finalizer, who.text))
		dead, running = append(dead, who.dead...), append(running, who.running...)
	}
	add(s.more)
	operation := admissionv1.Update // that takes a finalizer away
	if len(s.finalizers) == 0 {
		operation = admissionv1.Delete
	}
	silent := f.silentWebhooks(&found, s.labels, operation)
	var steps []string
	for _, hook := range silent {
		add(hook.text)
		steps = append(steps, "make "+hook.service.String()+" answer")
	}
	for _, name := range dead {
		steps = append(steps, "start "+name.String())
	}
	if len(dead) == 0 {
		for _, name := range running {
			steps = append(steps, "read the log of "+name.String())
		}
	}
	add(repair(steps, isForeign))
	add(f.unreadDetails(isForeign))
	found.Reason = strings.Join(reasons, "; ")
	return &found
}

// repair says in which order to go about it.
func repair(steps []string, isForeign bool) string {
	var all []string
	for _, step := range steps {
		if !slices.Contains(all, step) {
			all = append(all, step)
		}
	}
	text := "to repair it: " + strings.Join(all, ", then ")
	switch {
	case len(all) == 0 && isForeign:
		return "remove the finalizer by hand only when nothing is left of what it guards"
	case len(all) == 0:
		return ""
	case isForeign:
		return text + "; remove the finalizer by hand only when that does not help"
	}
	return text
}

// unreadDetails says what could not be read that might say more.
func (f *Finder) unreadDetails(isForeign bool) string {
	lacking := f.lacking(webhookKinds...)
	lacking = append(lacking, f.lacking(calledKinds...)...)
	lacking = append(lacking, f.lacking(namespaces)...)
	if isForeign {
		lacking = append(f.lacking(workloadKinds...), lacking...)
	}
	if len(lacking) == 0 {
		return ""
	}
	return "what more there is to say is unknown, not read: " + kindsOf(lacking)
}
