// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// What a finding says, besides its type: confidence, since when, who manages the object, what its deletion frees, and why.
func TestDetails(t *testing.T) {
	t.Parallel()
	const written = `managedFields: [{manager: kubectl, time: "2026-02-01T00:00:00Z", fieldsV1: {"f:spec": {"f:replicas": {}}}}, ` +
		`{manager: other, time: "2026-02-20T00:00:00Z", fieldsV1: {"f:spec": {"f:template": {}}}}]`
	for name, test := range map[string]struct{ cluster, want string }{
		"a ConfigMap of Helm's": {
			of("v1 ConfigMap shop/a", "annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}"),
			"Likely, managed by Helm release shop/web: none of N kinds names it",
		},
		"of Argo CD":        {of("v1 ConfigMap shop/a", "annotations: {argocd.argoproj.io/tracking-id: 'web:/ConfigMap:shop/a'}"), "Likely, managed by Argo CD application web: none of N kinds names it"},
		"of Flux":           {of("v1 ConfigMap shop/a", "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux}"), "Likely, managed by Flux Kustomization flux/apps: none of N kinds names it"},
		"of Flux and Helm":  {of("v1 ConfigMap shop/a", "labels: {helm.toolkit.fluxcd.io/name: web}, annotations: {meta.helm.sh/release-name: web}"), "Likely, managed by Flux HelmRelease web: none of N kinds names it"},
		"of OLM":            {of("v1 ConfigMap shop/a", "labels: {operators.coreos.com/a.b: ''}"), "Likely, managed by Operator Lifecycle Manager: none of N kinds names it"},
		"a Role":            {of(rbac+"Role shop/a", ""), "Likely: none of N kinds names it"},
		"an instance alone": {of("v1 ConfigMap shop/a", "labels: {app.kubernetes.io/instance: web}"), "Likely: none of N kinds names it"},
		"a claim": {
			of("v1 PersistentVolumeClaim shop/a", "", "spec: {resources: {requests: {storage: 1Gi}}}", "status: {capacity: {storage: 2Gi}, conditions: [{type: Unused, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}"),
			"Likely, since 2026-01-01, frees 2147483648 bytes: none of N kinds names it",
		},
		"a claim whose storage is kept": {
			of("v1 PersistentVolumeClaim shop/a", "", "status: {capacity: {storage: 2Gi}}") + "\n---\n" +
				of("v1 PersistentVolume b", "", "spec: {persistentVolumeReclaimPolicy: Retain, claimRef: {namespace: shop, name: a}}", "status: {phase: Bound}"),
			"Likely: none of N kinds names it",
		},
		"a claim that was used again": {of("v1 PersistentVolumeClaim shop/a", "", "status: {conditions: [{type: Unused, status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z'}]}"), "Weak: none of N kinds names it, but its condition Unused is False: a Pod uses it"},
		"a volume": {
			of("v1 PersistentVolume a", "", "spec: {persistentVolumeReclaimPolicy: Delete, capacity: {storage: 1Gi}, claimRef: {namespace: shop, name: data}}", "status: {phase: Released, lastPhaseTransitionTime: '2026-01-02T00:00:00Z'}"),
			"Certain, since 2026-01-02, frees 1073741824 bytes: it is Released: its claim was PersistentVolumeClaim shop/data (reclaim policy Delete)",
		},
		"a volume whose storage is kept": {
			of("v1 PersistentVolume a", "", "spec: {persistentVolumeReclaimPolicy: Retain, capacity: {storage: 1Gi}, claimRef: {namespace: shop, name: data}}", "status: {phase: Released}"),
			"Certain: it is Released: its claim was PersistentVolumeClaim shop/data (reclaim policy Retain)",
		},
		"a load balancer": {
			of("v1 Service shop/a", "", "spec: {type: LoadBalancer, selector: {a: b}}", "status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}"),
			"Likely, frees 1 load balancers: it has no endpoint, ready or not, its selector matches no Pod or template, and none of N kinds names it",
		},
		"a Deployment at zero": {
			of("apps/v1 Deployment shop/a", written, zero, "status: {conditions: [{type: Progressing, lastUpdateTime: '2026-01-15T00:00:00Z'}]}"),
			"Certain, since 2026-02-01: it has no replicas, and nothing scales it up",
		},
		"one that changed since": {
			of("apps/v1 Deployment shop/a", written, zero, "status: {conditions: [{type: Progressing, lastUpdateTime: '2026-02-15T00:00:00Z'}]}"),
			"Certain, since 2026-02-15: it has no replicas, and nothing scales it up",
		},
		"a Deployment at zero of which nobody knows since when": {
			of("apps/v1 Deployment shop/a", "", zero, "status: {conditions: [{type: Progressing, lastUpdateTime: '2026-01-15T00:00:00Z'}]}"), "Certain: it has no replicas, and nothing scales it up",
		},
		"a Pod that does not start on its Node": {
			of("v1 Pod shop/a", "creationTimestamp: '2026-01-01T00:00:00Z'", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-02-01T00:00:00Z'}]}"),
			"Certain, since 2026-02-01: it has been pending for more than 10 minutes",
		},
		"a Pod that misses a key": {
			of("v1 Pod shop/a", "", "status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: CreateContainerConfigError, message: \"couldn't find key b in ConfigMap shop/c\"}}}]}"),
			"Certain: container a waits: CreateContainerConfigError: couldn't find key b in ConfigMap shop/c",
		},
		"a Pod whose image cannot be pulled": {
			of("v1 Pod shop/a", "", "status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ImagePullBackOff, message: back-off pulling}}}]}"),
			"Certain: container a waits: ImagePullBackOff",
		},
		"a Deployment whose Pod misses a Secret": {
			cluster(of("apps/v1 Deployment shop/a", "", "spec: {replicas: 1}"), podOf("a", "state: {waiting: {reason: CreateContainerConfigError, message: secret c not found}}")),
			"Certain: container a of Pod a-1-a waits: CreateContainerConfigError: secret c not found",
		},
		"an evicted Pod": {
			of("v1 Pod shop/a", "", "status: {phase: Failed, reason: Evicted, message: disk full, containerStatuses: [{state: {terminated: {finishedAt: '2026-02-01T00:00:00Z'}}}]}"),
			"Certain, since 2026-02-01: it failed: Evicted: disk full",
		},
		"a Job": {
			of("batch/v1 Job shop/a", "", "status: {completionTime: '2026-02-01T00:00:00Z', conditions: [{type: Complete, status: 'True'}]}"), "Certain, since 2026-02-01: it is complete, and nothing deletes it",
		},
		"a binding": {
			of(rbac+"RoleBinding shop/a", "", binds("Role", "nothing", user)), "Certain: it binds Role shop/nothing, which does not exist",
		},
		"a Pod that names in vain": {
			of("v1 Pod shop/a", "", "spec: "+missing), "Certain: spec.containers[].envFrom[].configMapRef.name names ConfigMap shop/gone, which does not exist",
		},
		"a stuck object whose kind is served": {
			of("v1 ConfigMap shop/a", "finalizers: [hold.example.com/a], deletionTimestamp: '2026-02-01T00:00:00Z'"),
			"Certain, since 2026-02-01: finalizer hold.example.com/a is left: it is of hold.example.com, and no controller was found that may own it; " + byHand,
		},
		"a stuck object of a domain that is gone": {
			of("v1 ConfigMap shop/a", "finalizers: [gone.io/a], deletionTimestamp: '2026-02-01T00:00:00Z'"),
			"Certain, since 2026-02-01: finalizer gone.io/a is left: it is of gone.io, of which the cluster serves no kind, and no controller was found that may own it; " + byHand,
		},
		"a stuck namespace": {
			of("v1 Namespace a", "deletionTimestamp: '2026-02-01T00:00:00Z'", "status: {conditions: [{type: NamespaceContentRemaining, status: 'True', message: some pods}]}"),
			"Certain, since 2026-02-01: finalizer kubernetes is left: objects of the namespace are not gone yet; some pods",
		},
		"an expired object": {
			of("v1 ReplicationController shop/a", "annotations: {cleaner/expires: 2026-02-01}", "spec: {}"), "Certain, since 2026-02-01: it expired at 2026-02-01T00:00:00Z, by cleaner/expires",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := find(t, scenario{cluster: test.cluster})
			if len(found) != 1 {
				t.Fatalf("found %d findings: %s", len(found), lines(found))
			}
			if got := details(found[0]); got != test.want {
				t.Errorf("found %q\nwant  %q", got, test.want)
			}
		})
	}
}

func details(f *finding.Finding) string {
	text := string(f.Confidence)
	if !f.Since.IsZero() {
		text += ", since " + f.Since.Format(time.DateOnly)
	}
	if f.Managed != "" {
		text += ", managed by " + f.Managed
	}
	if f.Frees.VolumeBytes > 0 {
		text += fmt.Sprintf(", frees %d bytes", f.Frees.VolumeBytes)
	}
	if f.Frees.LoadBalancers > 0 {
		text += fmt.Sprintf(", frees %d load balancers", f.Frees.LoadBalancers)
	}
	return text + ": " + strings.ReplaceAll(f.Reason, fmt.Sprintf("none of %d kinds", f.Searched), "none of N kinds")
}

// Where Argo CD runs, the label by which it tells what it made counts.
func TestManagedByArgoCDsLabel(t *testing.T) {
	t.Parallel()
	kinds := append(served(t), kindOf(t, "argoproj.io/v1alpha1", "Application"))
	found := findWith(t, scenario{cluster: of("v1 ConfigMap shop/a", "labels: {app.kubernetes.io/instance: web}")}, finding.Options{Table: tableOf(t), Served: kinds, Now: now})
	if len(found) != 1 || found[0].Managed != "Argo CD application web" {
		t.Errorf("found %+v", found)
	}
}

// Kinds of a group that does not answer may name anything. Metrics name nothing.
func TestUnservedGroups(t *testing.T) {
	t.Parallel()
	silent := errors.New("no answer")
	for name, test := range map[string]struct {
		cluster, without string
		unserved         map[string]error
		want             string
	}{
		"a group of which the table has kinds":    {of("v1 Secret shop/a", ""), "Widget", map[string]error{"example.com": silent}, "Secret shop/a Unused unknown"},
		"a group that nobody serves":              {of("v1 Secret shop/a", ""), "Widget", nil, "Secret shop/a Unused"},
		"metrics":                                 {cluster(of("v1 Secret shop/a", ""), of("v1 Namespace a", "")), "", map[string]error{"metrics.k8s.io": silent, "custom.metrics.k8s.io": silent}, "Namespace a Unused\nSecret shop/a Unused"},
		"a group that may have objects somewhere": {of("v1 Namespace a", ""), "", map[string]error{"unheard.of": silent}, "Namespace a Unused unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := finding.Options{Table: tableOf(t), Now: now, Unserved: test.unserved}
			for _, kind := range served(t) {
				if kind.Kind != test.without {
					options.Served = append(options.Served, kind)
				}
			}
			if got := lines(findWith(t, scenario{cluster: test.cluster}, options)); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// A kind whose group does not answer counts among those that can name an object, and not among those that were read.
func TestCountsOfUnservedGroups(t *testing.T) {
	t.Parallel()
	sources, err := graph.BuiltInSources()
	if err != nil {
		t.Fatal(err)
	}
	anything := []graph.Reference{{Path: "anything", KindField: "kind"}}
	unserved := map[string]error{}
	for _, group := range []string{"a.example.com", "b.example.com"} {
		sources = append(sources, graph.Source{Kind: "*." + group, PodTemplates: []string{"anything"}, References: anything})
		unserved[group] = errors.New("no answer")
	}
	table, err := graph.NewTable(sources)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []object.Kind{kindOf(t, "v1", "ConfigMap"), kindOf(t, "v1", "Pod"), kindOf(t, "policy/v1", "PodDisruptionBudget"), kindOf(t, "apps/v1", "Deployment")}
	for name, test := range map[string]struct {
		cluster string
		unread  []string
		want    string
	}{
		"users":        {of("v1 ConfigMap shop/a", ""), nil, "no user found in 3 of at least 5 kinds that can name it"},
		"unread users": {of("v1 ConfigMap shop/a", ""), []string{"Pod", "Deployment"}, "no user found in 1 of at least 5 kinds that can name it"},
		"none is read": {of("policy/v1 PodDisruptionBudget shop/a", "", "spec: {selector: {matchLabels: {app: a}}}"), []string{"Pod", "Deployment"}, "its selector matches nothing: none of at least 4 kinds that have Pods or templates could be read"},
		"selectors":    {of("policy/v1 PodDisruptionBudget shop/a", "", "spec: {selector: {matchLabels: {app: a}}}"), nil, "its selector matches nothing in 2 of at least 4 kinds that have Pods or templates"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := findWith(t, scenario{cluster: test.cluster, unread: test.unread}, finding.Options{Table: table, Served: kinds, Now: now, Unserved: unserved})
			if len(found) == 0 || found[0].Reason != test.want {
				t.Errorf("found %s, want one with the reason %q", lines(found), test.want)
			}
		})
	}
}

// Who wants one type of one kind needs no more lists than can tell, and learns nothing else.
func TestWantedLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want finding.Want
		// lists are those of the kinds that are looked at here; others may come with them.
		lists, none string
	}{
		"ConfigMaps": {finding.Want{Kind: gk("ConfigMap"), Type: v1alpha1.FindingUnused}, "ConfigMap metadata; ConfigMap everywhere; Pod; ReplicaSet; Deployment everywhere", "Event EndpointSlice Node Namespace"},
		"Secrets": {
			finding.Want{Kind: gk("Secret"), Type: v1alpha1.FindingUnused},
			"Secret metadata type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token,type!=bootstrap.kubernetes.io/token; " +
				"Secret metadata type=kubernetes.io/service-account-token; Pod; ServiceAccount everywhere; Ingress everywhere", "Event EndpointSlice Node",
		},
		"certificates":    {finding.Want{Kind: gk("Secret"), Type: v1alpha1.FindingCertificateExpired}, "Secret type=kubernetes.io/tls", "Pod ConfigMap"},
		"what is Stuck":   {finding.Want{Kind: gk("Event"), Type: v1alpha1.FindingStuck}, "Event metadata", "Pod ConfigMap"},
		"bindings":        {finding.Want{Kind: gk("RoleBinding.rbac.authorization.k8s.io"), Type: v1alpha1.FindingUnused}, "RoleBinding; Role metadata everywhere; ServiceAccount metadata everywhere; Pod everywhere", "Event Secret"},
		"classes":         {finding.Want{Kind: gk("StorageClass.storage.k8s.io"), Type: v1alpha1.FindingUnused}, "StorageClass everywhere; PersistentVolumeClaim everywhere; StatefulSet everywhere", "Event Node"},
		"Namespaces":      {finding.Want{Kind: gk("Namespace"), Type: v1alpha1.FindingUnused}, "Namespace; Pod everywhere; Widget everywhere; Secret metadata everywhere", "Event Node EndpointSlice"},
		"autoscalers":     {finding.Want{Kind: gk("HorizontalPodAutoscaler.autoscaling"), Type: v1alpha1.FindingUnused}, "HorizontalPodAutoscaler; Deployment; Pod", "Node Secret"},
		"what cascades":   {finding.Want{Kind: gk("ConfigMap"), Type: v1alpha1.FindingCascading}, "ConfigMap metadata; ConfigMap everywhere; Pod; ScaledObject everywhere", "Event Node"},
		"workloads":       {finding.Want{Kind: gk("Deployment.apps"), Type: v1alpha1.FindingIdle}, "Deployment; HorizontalPodAutoscaler; ScaledObject; SleepInfo metadata; Pod", "Node Secret"},
		"Pods that ended": {finding.Want{Kind: gk("Pod"), Type: v1alpha1.FindingFailed}, "Pod", "Node ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := finding.New(finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: []finding.Want{test.want}})
			var all []string
			for _, list := range f.Lists() {
				text := list.Kind.Kind
				if list.MetadataOnly {
					text += " metadata"
				}
				if list.Everywhere {
					text += " everywhere"
				}
				if list.Fields != "" {
					text += " " + list.Fields
				}
				all = append(all, text)
				for none := range strings.FieldsSeq(test.none) {
					if list.Kind.Kind == none && list.Kind.Group != "example.com" {
						t.Errorf("%s is listed", none)
					}
				}
			}
			for list := range strings.SplitSeq(test.lists, "; ") {
				if !strings.Contains("; "+strings.Join(all, "; ")+";", "; "+list+";") {
					t.Errorf("there is no %q in: %s", list, strings.Join(all, "; "))
				}
			}
		})
	}
}

func gk(text string) schema.GroupKind { return schema.ParseGroupKind(text) }

// A Cleaner may not act on what asks for a repair, or guards something, or would take more with it.
func TestActionable(t *testing.T) {
	t.Parallel()
	for kind, types := range map[string]string{
		"ConfigMap": "Expired Unused", "Secret": "Expired Unused", "Pod": "Expired Failed Finished Unhealthy", "Node": "", "Event": "Expired",
		"NetworkPolicy.networking.k8s.io": "Expired", "CustomResourceDefinition.apiextensions.k8s.io": "", "Deployment.apps": "Expired Idle Unhealthy",
		"DaemonSet.apps": "Expired", "HorizontalPodAutoscaler.autoscaling": "Expired Unused", "APIService.apiregistration.k8s.io": "",
		"Namespace": "Expired Unused",
	} {
		var actionable []string
		for _, typ := range finding.TypesOf(gk(kind)) {
			if finding.Actionable(gk(kind), typ) {
				actionable = append(actionable, string(typ))
			}
		}
		if got := strings.Join(actionable, " "); got != types {
			t.Errorf("%s: %s, want %s", kind, got, types)
		}
	}
}

// Of one namespace, nothing is told of what is cluster-scoped; and what can be named from other namespaces is unknown where these may not be read.
func TestOneNamespace(t *testing.T) {
	t.Parallel()
	f := finding.New(finding.Options{Table: tableOf(t), Served: served(t), Now: now, Namespace: "shop"})
	for _, list := range f.Lists() {
		if list.Everywhere {
			f.UnreadElsewhere(list, errors.New("forbidden"))
		}
		for i, text := range []string{
			of("scheduling.k8s.io/v1 PriorityClass a", ""), of("v1 PersistentVolume a", "", "status: {phase: Released}"), of("v1 ConfigMap shop/a", ""), of("v1 ServiceAccount shop/a", ""),
			of("v1 PersistentVolumeClaim shop/a", ""), of("v1 ConfigMap team/a", ""),
			of(rbac+"RoleBinding shop/elsewhere", "", binds("ClusterRole", "view", robot)), of(rbac+"RoleBinding shop/here", "", binds("ClusterRole", "view", gone)),
			of(rbac+"ClusterRole view", "labels: {kubernetes.io/bootstrapping: rbac-defaults}"),
		} {
			if !strings.Contains(text, "kind: "+list.Kind.Kind+"\n") || list.Kind.Namespaced && !strings.Contains(text, "namespace: shop") {
				continue
			}
			f.Look(list, load(t, text, i, served(t)))
		}
	}
	want := "ConfigMap shop/a Unused unknown\nPersistentVolumeClaim shop/a Unused unknown\nServiceAccount shop/a Unused unknown\n" +
		"RoleBinding shop/elsewhere Unused unknown\nRoleBinding shop/here Unused"
	if got := lines(slices.Collect(f.Findings())); got != want {
		t.Errorf("found:\n%s\nwant:\n%s", got, want)
	}
}

// What an object of another namespace names with a namespace counts in a search of one namespace as well.
func TestNamedFromElsewhere(t *testing.T) {
	t.Parallel()
	objects := []string{
		of("v1 Secret shop/argument", ""), of("v1 Secret shop/learned", ""), of("v1 Secret shop/title", ""), of("v1 Secret shop/unused", ""),
		of("apps/v1 Deployment edge/proxy", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [--certificate=shop/argument]}]}}}"),
		of("example.com/v1 Widget team/a", "", "spec: {learned: {secretName: shop/learned}}"),
		of("keda.sh/v1alpha1 TriggerAuthentication team/a", "", "spec: {title: shop/title, other: unused}"),
	}
	const unknown = "shop/argument unknown; shop/title unknown; shop/unused unknown"
	const unknownToo = "shop/argument unknown; shop/learned unknown; shop/title unknown; shop/unused unknown"
	for name, test := range map[string]struct{ forbidden, want string }{
		"all may be read":           {"", "shop/argument weak; shop/title weak; shop/unused"},
		"workloads may not be read": {"Deployment", unknown},
		"what is learned may not":   {"Widget", unknownToo},
		"what is known may not":     {"TriggerAuthentication", unknown},
		"ConfigMaps may not":        {"ConfigMap", "shop/argument weak; shop/title weak; shop/unused unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds := append(served(t), kindOf(t, "keda.sh/v1alpha1", "TriggerAuthentication"))
			wanted := []finding.Want{{Kind: gk("Secret"), Type: v1alpha1.FindingUnused}}
			f := finding.New(finding.Options{Table: tableOf(t), Served: kinds, Now: now, Namespace: "shop", Wanted: wanted})
			for _, list := range f.Lists() {
				if list.Kind.Kind == test.forbidden {
					f.UnreadElsewhere(list, errors.New("forbidden"))
				}
				for i, text := range objects {
					o := load(t, text, i, kinds)
					isRead := o.Namespace == "shop" || list.Everywhere && list.Kind.Kind != test.forbidden
					if o.Kind == list.Kind && isRead && list.Selects(o) {
						f.Look(list, o)
					}
				}
			}
			got := strings.NewReplacer("Secret ", "", " Unused", "", "\n", "; ").Replace(lines(slices.Collect(f.Findings())))
			if got != test.want {
				t.Errorf("found %s, want %s", got, test.want)
			}
		})
	}
}

// A run of one namespace reads what may start, await or name its objects from another one, and knows when it could not.
func TestOfOneNamespace(t *testing.T) {
	t.Parallel()
	kinds := served(t)
	ofOps := "{kind: ServiceAccount, name: robot, namespace: ops}"
	for name, test := range map[string]struct {
		objects   []string
		wanted    finding.Want
		forbidden string
		want      string
	}{
		"a CronJob elsewhere may resume a suspended one": {
			objects: []string{
				of("batch/v1 CronJob shop/report", "", "spec: {schedule: '@daily', suspend: true, jobTemplate: {spec: {template: {spec: {containers: []}}}}}"),
				of("batch/v1 CronJob ops/resume", "", "spec: {schedule: '@daily', jobTemplate: {spec: {template: {spec: {serviceAccountName: robot, containers: []}}}}}"),
				of(rbac+"ClusterRole resumer", "", "rules: [{apiGroups: [batch], resources: [cronjobs], verbs: [get, patch]}]"),
				of(rbac+"ClusterRoleBinding resumer", "", binds("ClusterRole", "resumer", ofOps)),
			},
			wanted: finding.Want{Kind: schema.GroupKind{Group: "batch", Kind: "CronJob"}, Type: v1alpha1.FindingIdle},
			want:   "CronJob shop/report Idle weak",
		},
		"a Deployment elsewhere may wait for a Job": {
			objects: []string{
				of("batch/v1 Job shop/migrate", "", "status: {completionTime: "+ago(2*time.Hour)+", conditions: [{type: Complete, status: 'True'}]}"),
				of("apps/v1 Deployment ci/gate", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [kubectl wait job/migrate -n shop]}]}}}"),
			},
			wanted: finding.Want{Kind: schema.GroupKind{Group: "batch", Kind: "Job"}, Type: v1alpha1.FindingFinished},
			want:   "Job shop/migrate Finished weak",
		},
		"Deployments elsewhere, which may wait for a Job, cannot be read": {
			objects:   []string{of("batch/v1 Job shop/migrate", "", "status: {completionTime: "+ago(2*time.Hour)+", conditions: [{type: Complete, status: 'True'}]}")},
			wanted:    finding.Want{Kind: schema.GroupKind{Group: "batch", Kind: "Job"}, Type: v1alpha1.FindingFinished},
			forbidden: "Deployment",
			want:      "Job shop/migrate Finished weak",
		},
		"accounts elsewhere, whose annotations may name a Secret, cannot be read": {
			objects:   []string{of("v1 Secret shop/login", "")},
			wanted:    finding.Want{Kind: gk("Secret"), Type: v1alpha1.FindingUnused},
			forbidden: "ServiceAccount",
			want:      "Secret shop/login Unused unknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := finding.New(finding.Options{Table: tableOf(t), Served: kinds, Now: now, Namespace: "shop", Wanted: []finding.Want{test.wanted}})
			for _, list := range f.Lists() {
				if list.Kind.Kind == test.forbidden {
					f.UnreadElsewhere(list, errors.New("forbidden"))
				}
				for i, text := range test.objects {
					o := load(t, text, i, kinds)
					if o.Kind == list.Kind && (o.Namespace == "shop" || o.Namespace == "" || list.Everywhere) && list.Selects(o) {
						f.Look(list, o)
					}
				}
			}
			if got := lines(slices.Collect(f.Findings())); got != test.want {
				t.Errorf("found %s, want %s", got, test.want)
			}
		})
	}
}

// The commands of a CronJob may scale what is in another namespace.
func TestIdleWithoutCronJobsElsewhere(t *testing.T) {
	t.Parallel()
	kinds := served(t)
	wanted := []finding.Want{{Kind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Type: v1alpha1.FindingIdle}}
	for forbidden, want := range map[string]string{"": "Deployment shop/zero Idle", "CronJob": "Deployment shop/zero Idle unknown"} {
		f := finding.New(finding.Options{Table: tableOf(t), Served: kinds, Now: now, Namespace: "shop", Wanted: wanted})
		for _, list := range f.Lists() {
			if list.Kind.Kind == forbidden {
				f.UnreadElsewhere(list, errors.New("forbidden"))
			}
			if list.Kind.Kind == "Deployment" {
				f.Look(list, load(t, of("apps/v1 Deployment shop/zero", "", "spec: {replicas: 0, template: {spec: {containers: []}}}"), 1, kinds))
			}
		}
		if got := lines(slices.Collect(f.Findings())); got != want {
			t.Errorf("without the right to list %q elsewhere: found %s, want %s", forbidden, got, want)
		}
	}
}

// Who wants one type finds what who wants all finds of that type. Of what cascades it may be less: it is not looked for what else is idle then.
func TestWantedFindsTheSame(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := find(t, s)
			for _, typ := range []v1alpha1.FindingType{
				v1alpha1.FindingUnused, v1alpha1.FindingDangling, v1alpha1.FindingCascading, v1alpha1.FindingIdle, v1alpha1.FindingFinished, v1alpha1.FindingStuck,
				v1alpha1.FindingFailed, v1alpha1.FindingUnhealthy, v1alpha1.FindingExpired, v1alpha1.FindingCertificateExpired,
			} {
				options := finding.Options{Table: tableOf(t), Served: served(t), Now: now}
				for _, kind := range served(t) {
					options.Wanted = append(options.Wanted, finding.Want{Kind: kind.GroupKind(), Type: typ})
				}
				of := slices.DeleteFunc(slices.Clone(all), func(f *finding.Finding) bool { return f.Type != typ })
				got, want := lines(findWith(t, s, options)), lines(of)
				if typ == v1alpha1.FindingCascading && got == "" {
					continue
				}
				if got != want {
					t.Errorf("%s: found:\n%s\n\nof all are so:\n%s", typ, got, want)
				}
			}
			testEachKind(t, s, all)
		})
	}
}

// testEachKind wants the findings of one type of one kind, and nothing else: then less is read.
func testEachKind(t *testing.T, s scenario, all []*finding.Finding) {
	t.Helper()
	wanted := map[finding.Want][]*finding.Finding{}
	for _, f := range all {
		want := finding.Want{Kind: f.Kind.GroupKind(), Type: f.Type}
		wanted[want] = append(wanted[want], f)
	}
	for want, of := range wanted {
		if want.Type == v1alpha1.FindingCascading { // it is not looked for what else is idle then
			continue
		}
		options := finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: []finding.Want{want}}
		if got, same := lines(findWith(t, s, options)), lines(of); got != same {
			t.Errorf("%s %s alone: found:\n%s\n\nof all are so:\n%s", want.Kind, want.Type, got, same)
		}
	}
}

// An object that is never unused says why.
func TestExemption(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		of("v1 ConfigMap shop/mine", ""):                                                          "",
		of("v1 ConfigMap shop/kube-root-ca.crt", ""):                                              "Kubernetes creates it in each namespace, and Pods rely on it",
		of("v1 ConfigMap kube-system/coredns-custom", ""):                                         "Kubernetes, or a distribution of it, makes an object of that name",
		of("v1 ConfigMap shop/a", "annotations: {cleaner/protect: 'true'}"):                       "it is annotated cleaner/protect",
		of("v1 ConfigMap shop/a", "annotations: {cleaner/protect: 'false'}"):                      "",
		of("v1 ConfigMap shop/a", "labels: {kor/used: 'true'}"):                                   `it is labelled kor/used: "true"`,
		of("v1 ConfigMap shop/a", "labels: {grafana_dashboard: '1'}"):                             "it is read by its label grafana_dashboard, whatever its name is",
		of("v1 ConfigMap shop/a", "labels: {grafana_dashboard: '1', kor/used: 'false'}"):          "",
		of("v1 ConfigMap shop/a", "ownerReferences: [{apiVersion: a/v1, kind: A, name: a}]"):      "another object owns it, and decides how long it lives",
		of("v1 ConfigMap shop/a", "deletionTimestamp: "+ago(time.Minute)):                         "it is being deleted already",
		of("example.com/v1 Widget shop/a", "annotations: {cleaner/protect: 'true'}"):              "", // it has no findings of its own
		of("v1 ConfigMap shop/a", "annotations: {control-plane.alpha.kubernetes.io/leader: 'x'}"): "it says who leads",
	} {
		o := load(t, text, 0, served(t))
		if got := finding.Exemption(o); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
