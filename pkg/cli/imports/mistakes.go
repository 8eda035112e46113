// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// mistake is an idea that was published for k8s-cleaner and does not do what it says. It is recognised by the kinds
// that are selected, and by words of the scripts.
type mistake struct {
	// all of these kinds must be selected, one of any, and none of none. Empty lists ask nothing.
	all, any, none []string
	// aggregated is true when the script is aggregatedSelection, and transforms when it is transform. Otherwise it is
	// evaluate.
	aggregated, transforms bool
	// words is what the script must have.
	words *regexp.Regexp
	// right is what a script of the Cleaner has that does not make the mistake. Nil when nothing shows that.
	right *regexp.Regexp
	// wrong says what goes wrong, and instead what to use.
	wrong, instead string
}

var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob"}

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

const useUnused = "use finding: {type: Unused} on the kind %s instead of the script: it knows all that can name one"

func useFor(kind string) string { return fmt.Sprintf(useUnused, kind) }

// mistakes are those of detectors that k8s-cleaner publishes. Tests have a document for each.
func mistakes() []mistake {
	return append(append(referenceMistakes(), stateMistakes()...), []mistake{
		{
			transforms: true, any: workloads, words: words(`previous-replicas[\s\S]*replicas\s*=\s*0`),
			right:   words(`replicas\s*(>|~=)\s*0`),
			wrong:   "the second run stores 0 over the stored replicas, and then nothing brings the workload back; and a DaemonSet has no replicas",
			instead: "store the replicas only while they are above 0: see the recipe that scales workloads down at night",
		},
		{
			transforms: true, any: workloads, words: words(`restartCount`),
			wrong:   "one restarting container is enough, a workload without Pods counts as well, and the limit is off by one",
			instead: "use finding: {type: Unhealthy} on the kind Deployment",
		},
		{
			aggregated: true, all: []string{"Pod"}, any: workloads, words: words(`restartCount`),
			wrong:   "one restarting container is enough, a workload without Pods counts as well, and the limit is off by one",
			instead: "use finding: {type: Unhealthy} on the kind Deployment",
		},
	}...)
}

// referenceMistakes look for what nothing names.
func referenceMistakes() []mistake {
	return []mistake{
		{
			aggregated: true, any: []string{"ConfigMap", "Secret"}, none: append([]string{"Pod", "Ingress"},
				workloads...), words: words(`creationTimestamp`),
			wrong:   "of generated ConfigMaps it keeps the oldest and reports the newest, which is the one in use",
			instead: "use finding: {type: Unused}, which knows the one in use",
		},
		{
			aggregated: true, any: []string{"ConfigMap", "Secret"}, all: []string{"Deployment"}, none: []string{"Pod"},
			wrong:   "it overlooks optional references and init containers, and may report another kind than it means",
			instead: "use finding: {type: Dangling} on the kind of the workloads",
		},
		{
			aggregated: true, all: []string{"Pod", "ConfigMap"}, right: words(`initContainers`),
			wrong:   "it overlooks init and ephemeral containers and workloads at zero, and reports every kube-root-ca.crt",
			instead: useFor("ConfigMap"),
		},
		{
			aggregated: true, all: []string{"Pod", "Secret"}, right: words(`initContainers`),
			wrong: "it overlooks init and ephemeral containers, pull Secrets of accounts, workloads at zero and Helm releases, " +
				"and fails on an Ingress whose TLS has no secretName",
			instead: useFor("Secret"),
		},
		{
			aggregated: true, all: []string{"Deployment", "HorizontalPodAutoscaler"},
			wrong:   "it stops after the first Deployment that it finds",
			instead: "look at each one; a Deployment without an autoscaler may well be needed",
		},
		{
			aggregated: true, all: []string{"ServiceAccount"}, any: []string{"Pod", "RoleBinding", "ClusterRoleBinding"},
			wrong: "it overlooks bindings of other namespaces, and CronJobs", instead: useFor("ServiceAccount"),
		},
		{
			aggregated: true, all: []string{"ClusterRole"}, any: []string{"ClusterRoleBinding", "RoleBinding"},
			wrong: "it overlooks aggregated roles, and reports those that every cluster has", instead: useFor("ClusterRole"),
		},
		{
			aggregated: true, all: []string{"PersistentVolumeClaim"}, any: append([]string{"Pod"}, workloads...),
			wrong: "it reports the claim of a Pod's own ephemeral volume while the Pod runs", instead: useFor("PersistentVolumeClaim"),
		},
		{
			aggregated: true, all: []string{"PodDisruptionBudget"}, any: append([]string{"Pod"}, workloads...),
			wrong: "it overlooks the Pods of DaemonSets, and fails on a selector without matchLabels", instead: useFor("PodDisruptionBudget"),
		},
		{
			aggregated: true, all: []string{"Namespace", "Pod"},
			wrong:   "it looks at Pods only, so a namespace with volumes or settings counts as empty, and so does default",
			instead: useFor("Namespace"),
		},
	}
}

// stateMistakes look at one object.
func stateMistakes() []mistake {
	return []mistake{
		{
			all: []string{"ReplicaSet"}, words: words(`replicas`),
			wrong: "it reports the current ReplicaSet of a Deployment at zero, and those that are kept for a rollback", instead: useFor("ReplicaSet"),
		},
		{
			all: []string{"Job"}, words: words(`completions|succeeded`),
			wrong:   "it fails on completions: 0, and a delete without deleteOptions.propagationPolicy may leave the Pods",
			instead: "use finding: {type: Finished} on the kind Job, with deleteOptions: {propagationPolicy: Background}",
		},
		{
			words:   words(`cleaner/(ttl|expires)`),
			wrong:   `it fails on "1x", overlooks "90" and "1h30m", and takes times for local ones`,
			instead: "use finding: {type: Expired} instead of the script",
		},
		{
			all: []string{"Pod"}, words: words(`CrashLoopBackOff|ImagePullBackOff|ErrImagePull`),
			right:   words(`initContainerStatuses`),
			wrong:   "it overlooks init containers, and InvalidImageName",
			instead: "use finding: {type: Unhealthy} on the kind Pod",
		},
		{
			all: []string{"Pod"}, words: words(`deletionTimestamp`),
			wrong:   "it matches Pods within their grace period, and sees none at all unless excludeDeleted is false, over which k8s-cleaner writes true",
			instead: "use finding: {type: Stuck} on the kind Pod",
		},
	}
}

// mistakes names the known mistakes of a Cleaner.
func (j *job) mistakes(d *manifest.Document, c *v1alpha1.Cleaner) {
	if parsed, err := schedule.Parse(c.Spec.Schedule, ""); err == nil {
		for _, warning := range parsed.Warnings() {
			if strings.Contains(warning, "fires ") {
				j.wrong(d, "spec.schedule", warning, "")
			}
		}
	}
	var kinds []string
	for _, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		kinds = append(kinds, s.Kind)
	}
	for _, m := range mistakes() {
		if at := m.in(c, kinds); at != "" {
			j.wrong(d, at, m.wrong, m.instead)
			return // the first is the nearest
		}
	}
}

// in is the field in which a Cleaner makes the mistake. Empty when it does not.
func (m *mistake) in(c *v1alpha1.Cleaner, kinds []string) string {
	if !m.fits(c, kinds) {
		return ""
	}
	const set = "spec.resourcePolicySet."
	switch {
	case m.transforms && m.isIn(c.Spec.Transform):
		return "spec.transform"
	case m.aggregated && m.isIn(c.Spec.ResourcePolicySet.AggregatedSelection):
		return set + "aggregatedSelection"
	case m.transforms, m.aggregated:
		return ""
	}
	for i, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		if m.isIn(s.Evaluate) && (len(m.all) == 0 || slices.Contains(m.all, s.Kind)) {
			return fmt.Sprintf("%sresourceSelectors[%d].evaluate", set, i)
		}
	}
	return ""
}

// fits reports whether the kinds are those of the mistake, and no script of the Cleaner shows that it is not made.
func (m *mistake) fits(c *v1alpha1.Cleaner, kinds []string) bool {
	if m.right == nil || !m.selects(kinds) {
		return m.selects(kinds)
	}
	all := []string{c.Spec.Transform, c.Spec.ResourcePolicySet.AggregatedSelection}
	for _, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		all = append(all, s.Evaluate)
	}
	return !slices.ContainsFunc(all, m.right.MatchString)
}

// selects reports whether the kinds are those of the mistake.
func (m *mistake) selects(kinds []string) bool {
	has := func(kind string) bool { return slices.Contains(kinds, kind) }
	lacks := func(kind string) bool { return !has(kind) }
	return !slices.ContainsFunc(m.all, lacks) && (len(m.any) == 0 || slices.ContainsFunc(m.any, has)) &&
		!slices.ContainsFunc(m.none, has)
}

func (m *mistake) isIn(script string) bool {
	return script != "" && (m.words == nil || m.words.MatchString(script))
}
