// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// TestInitGolden shows what users see.
func TestInitGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"recipe": {"init", "unused-image-pull-secrets"},
		"flags": {
			"init", "unused", "--kind", "cm,secrets,StorageClass", "--namespace-selector", "team in (a, b)", "--for", "30d", "--schedule", "0 4 * * 1", "--name", "mine",
			"--action", "delete",
		},
		"list":              {"init", "--list", "certificates"},
		"list-colour":       {"init", "--list", "certificates", "--color=always"},
		"list-json":         {"init", "--list", "certificates", "-o", "json"},
		"list-name":         {"init", "--list", "crash", "pod", "--group", "unhealthy", "-o", "name"},
		"list-none":         {"init", "--list", "certifcates"},
		"mistyped":          {"init", "crash-loping-pods"},
		"word":              {"init", "certificates"},
		"unknown":           {"init", "zebra"},
		"nothing":           {"init"},
		"two":               {"init", "unused", "finished-jobs"},
		"mixed":             {"init", "--list", "--for", "3d", "--name", "x"},
		"not-list":          {"init", "unused", "-o", "json"},
		"both":              {"init", "unused", "--namespace", "a", "--namespace-selector", "b=c"},
		"refused":           {"init", "old-replica-sets", "--kind", "ReplicaSet", "--for", "3d", "--schedule", "daily", "--namespace-selector", "a b"},
		"refused-kind":      {"init", "unused", "--kind", "Screts"},
		"refused-elsewhere": {"init", "unused", "--kind", "NetworkPolicy"},
		"refused-mistyped":  {"init", "unused", "--kind", "Depoyment"},
		"refused-time":      {"init", "unused", "--for", "two weeks"},
		"report-only":       {"init", "expired-certificates", "--action", "Delete"},
		"no-change":         {"init", "unused", "--action", "Transform"},
		"no-namespace":      {"init", "empty-namespaces", "--namespace", "shop"},
		"wrong-name":        {"init", "unused", "--name", "No Name"},
		"everywhere":        {"init", "pull-request-leftovers", "--namespace-selector", "env=preview", "--action", "Delete"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "init-"+name+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

// TestInitSuggests: names of recipes of other tools, and mistyped ones, lead to ours.
func TestInitSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"unused-configmaps": "recipes about it: unused,", "unused-pvcs": "recipes about it: unused,", "stale-leases": "recipes about it: unused",
		"pods-crash-looping": "recipes about it: crash-looping-pods", "completed-jobs": "finished-jobs", "evicted": "evicted-pods", "finishd-jobs": `"finished-jobs"`,
		"crashlop": `did you mean "crash-looping-pods"?`, "crashloopingpods": `did you mean "crash-looping-pods"?`, "crash-lop": "crash-looping-pods",
		"scaledwn": "recipes about it: scale-down-autoscalers, scale-down-workloads",
		"unusd":    `did you mean "unused"?`, "-": "to see all", "": "to see all",
		"CrashLoopBackOff": "crash-looping-pods", "ImagePullBackOff": "image-pull-errors",
		"image pull backoff": "recipes about it: image-pull-errors", "crash loop backoff": "recipes about it: crash-looping-pods",
	} {
		if got := call(t.Context(), t, "", nil, "init", name); got.code != 1 || !strings.Contains(got.errOut, want) {
			t.Errorf("%s: exit %d, want %s in %s", name, got.code, want, got.errOut)
		}
	}
}

// TestInitRefusesEmptyValues: a variable of the shell that is not set must not let a Cleaner look further than its user thinks.
func TestInitRefusesEmptyValues(t *testing.T) {
	for flag, named := range map[string]string{
		"--kind": "--kind", "--namespace": "-n, --namespace", "-n": "-n, --namespace", "--namespace-selector": "--namespace-selector", "--for": "--for",
		"--schedule": "--schedule", "--name": "--name",
	} {
		for _, value := range []string{"", " "} {
			got := call(t.Context(), t, "", nil, "init", "unused", flag, value)
			want := fmt.Sprintf("invalid argument %q for %q flag: it is empty; give a value, or leave the flag out", value, named)
			if got.code != codes.ExitUsage || got.out != "" || !strings.Contains(got.errOut, want) {
				t.Errorf("%s %q: exit %d, want %s\n%s%s", flag, value, got.code, want, got.out, got.errOut)
			}
		}
	}
}

// TestInitSaysHowToArm: with another action than Scan, it says what the recipe advises before.
func TestInitSaysHowToArm(t *testing.T) {
	const advice = "note: its action is Delete; its recipe says: Let it report, with `notifications`. Deleting an unhealthy workload does not fix it."
	for action, want := range map[string]bool{"Delete": true, "Scan": false} {
		got := call(t.Context(), t, "", nil, "init", "unhealthy-workloads", "--action", action)
		if got.code != codes.ExitDone || strings.Contains(got.errOut, advice) != want {
			t.Errorf("%s: exit %d, and it says: %s", action, got.code, got.errOut)
		}
	}
}

// TestInitListAnswersQuestions: the recipe that answers a question is among the first in the list.
func TestInitListAnswersQuestions(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"pods that crash": "crash-looping-pods", "old jobs": "finished-jobs", "PVCs nobody uses": "unused", "preview environments": "preview-namespaces",
		"load balancers nobody uses": "load-balancers-without-endpoints", "restart deployments weekly": "rolling-restart", "not ready nodes": "lost-nodes",
		"rolebindings of deleted users": "dangling-role-bindings", "keep last 5": "keep-newest", "rbac": "dangling-role-bindings",
		"unused config maps": "unused", "cm nobody uses": "unused", "svc without endpoints": "services-without-endpoints", "evicted pods": "evicted-pods",
		"scale deploy down at night": "scale-down-workloads", "expired certs": "expired-certificates", "terminating namespaces": "stuck-deletions",
		"empty namespaces": "empty-namespaces", "pods that were OOM killed": "oom-killed-pods", "failed jobs": "failed-jobs", "old replicasets": "old-replica-sets",
		"image pull errors": "image-pull-errors", "pending pods": "pending-pods", "released volumes": "released-persistent-volumes", "helm secrets": "helm-release-secrets",
		"deprecated APIs": "deprecated-apis", "TTL annotations": "ttl-marks",
		"tags": "ttl-marks", "labels": "unused-in-labelled-namespaces", "marks": "ttl-marks", "expiry date": "ttl-marks", "expires": "ttl-marks",
		"delete after a week": "older-than", "old namespaces": "empty-namespaces", "stale namespaces": "empty-namespaces",
		"feature branches": "preview-namespaces", "merged PRs": "pull-request-leftovers", "unattached volumes": "released-persistent-volumes",
		"orphaned disks": "released-persistent-volumes", "role bindings without subject": "dangling-role-bindings", "unused CRDs": "unused-report-only",
		"pods in error": "failed-pods", "restarting pods": "often-restarted-pods", "high restarts": "often-restarted-pods",
		"wrong image": "image-pull-errors", "unschedulable pods": "pending-pods", "ingress without service": "dangling-references",
		"webhook without service": "dangling-references", "rotated secret": "pods-with-outdated-secrets",
		"renewed certificate": "pods-with-outdated-secrets", "expiring TLS": "expiring-certificates", "turn off dev at night": "scale-down-workloads",
		"shut down on weekends": "scale-down-workloads", "save money": "scale-down-workloads", "kustomize leftovers": "generated-configs",
		"noisy logs": "large-logs", "idle deployments": "idle-by-metrics", "no traffic": "idle-by-metrics", "docker secrets": "unused-image-pull-secrets",
		"restart deployments every week": "rolling-restart", "retention": "older-than", "uninstalled operators": "platform-leftovers", "garbage": "unused",
		"forgotten namespaces": "empty-namespaces", "test namespaces": "preview-namespaces", "zombie pods": "failed-pods",
		"volume errors": "mount-failures", "secrets not used for 30 days": "unused", "scaled to zero": "scaled-to-zero",
		"stuck finalizers": "stuck-deletions", "missing configmap": "dangling-references", "unused PDBs": "unused",
		"retention policy": "keep-newest", "hibernate": "scale-down-workloads", "shutdown at night": "scale-down-workloads",
		"pods not restarted after a secret changed": "pods-with-outdated-secrets", "reduce costs": "scale-down-workloads",
		"duplicates": "keep-newest", "deployments nobody uses": "idle-by-metrics", "secrets used by no pod": "unused-in-labelled-namespaces",
		"Pods pending too long": "pending-pods", "bare pods": "completed-pods", "outdated secrets in use": "pods-with-outdated-secrets",
		"deployments down at night and up in the morning": "scale-up-workloads",
		"garbage collection":                              "unused", "things older than 30 days": "older-than",
		"certificates about to expire": "expiring-certificates", "disk full": "evicted-pods", "containers killed by memory": "oom-killed-pods",
	} {
		for _, args := range [][]string{{question}, strings.Fields(question)} {
			got := call(t.Context(), t, "", nil, append([]string{"init", "--list", "-o", "name"}, args...)...)
			names := strings.Fields(got.out)
			if at := slices.Index(names, want); got.code != 0 || at < 0 || at > 4 {
				t.Errorf("%q: exit %d, %s is not among the first of %q %s", args, got.code, want, names, got.errOut)
			}
		}
	}
	for word, want := range map[string]string{"weeks": "to see all", "deploymnts": `did you mean "deployment"?`, "zebra": "to see all"} {
		got := call(t.Context(), t, "", nil, "init", "--list", word)
		if got.code != codes.ExitError && got.out == "" || got.code == codes.ExitError && !strings.Contains(got.errOut, want) {
			t.Errorf("%s: exit %d, want %s in\n%s%s", word, got.code, want, got.out, got.errOut)
		}
	}
	got := call(t.Context(), t, "", nil, "init", "--list", "xylophone", "evicted")
	if got.code != 0 || !strings.Contains(got.out, "evicted-pods") || !strings.Contains(got.errOut, `no recipe is about all of "xylophone evicted"; these are about some of it`) {
		t.Errorf("a word that none has: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// pathOfRepository is a path that is no part of an address.
var pathOfRepository = regexp.MustCompile(`(^|[^/\w])docs/`)

// TestInitWritesNoDeadLinks: a file of users is in no directory of the repository.
func TestInitWritesNoDeadLinks(t *testing.T) {
	all, err := recipes.All()
	must(t, err)
	for _, r := range all {
		if got := call(t.Context(), t, "", nil, "init", r.Name); strings.Contains(got.out, "](") || strings.Contains(got.out, "../") || pathOfRepository.MatchString(got.out) {
			t.Errorf("%s has a link:\n%s", r.Name, got.out)
		}
	}
	const want = "#   k8s-ttl-controller, Kyverno, mayfly and pod-reaper. The table of marks (https://github.com/kubecleaner/kubecleaner/blob/main/docs/reference/time-marks.md) has their forms. If an\n"
	if got := call(t.Context(), t, "", nil, "init", "ttl-marks"); !strings.Contains(got.out, want) {
		t.Errorf("no %q in\n%s", want, got.out)
	}
	if got := call(t.Context(), t, "", nil, "init", "--list", "-o", "json"); strings.Contains(got.out, "../") {
		t.Errorf("the list has a link:\n%s", got.out)
	}
}

// decoded is a Cleaner that init wrote.
func decoded(t *testing.T, text string) *v1alpha1.Cleaner {
	t.Helper()
	cleaner := &v1alpha1.Cleaner{}
	if err := yaml.UnmarshalStrict([]byte(text), cleaner); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return cleaner
}

// TestInitWritesEveryRecipe tries each flag on each recipe: what is written is what was asked for, and lint has nothing to say of it; or else the
// flag is refused.
func TestInitWritesEveryRecipe(t *testing.T) {
	all, err := recipes.All()
	must(t, err)
	dir := t.TempDir()
	selectors := func(c *v1alpha1.Cleaner) []v1alpha1.ResourceSelector {
		return c.Spec.ResourcePolicySet.ResourceSelectors
	}
	flags := map[string]func(*v1alpha1.Cleaner) bool{
		"--name=mine --schedule=@daily": func(c *v1alpha1.Cleaner) bool { return c.Name == "mine" && c.Spec.Schedule == "@daily" },
		"--namespace=shop": func(c *v1alpha1.Cleaner) bool {
			return !slices.ContainsFunc(selectors(c), func(s v1alpha1.ResourceSelector) bool { return s.Namespace != "shop" || s.NamespaceSelector != "" })
		},
		"--all-namespaces": func(c *v1alpha1.Cleaner) bool {
			return !slices.ContainsFunc(selectors(c), func(s v1alpha1.ResourceSelector) bool {
				return s.Namespace != "" || s.NamespaceSelector != ""
			})
		},
		"--namespace-selector=a!=b": func(c *v1alpha1.Cleaner) bool {
			return !slices.ContainsFunc(selectors(c), func(s v1alpha1.ResourceSelector) bool {
				return s.Namespace != "" || s.NamespaceSelector != "a!=b"
			})
		},
		"--for=17d": func(c *v1alpha1.Cleaner) bool {
			raw, _ := json.Marshal(c)
			return strings.Contains(string(raw), fmt.Sprint(17*86400)) || strings.Contains(string(raw), fmt.Sprintf("duration('%dh')", 17*24))
		},
		"--action=Delete":    func(c *v1alpha1.Cleaner) bool { return c.EffectiveAction() == v1alpha1.ActionDelete },
		"--action=Transform": func(c *v1alpha1.Cleaner) bool { return c.EffectiveAction() == v1alpha1.ActionTransform },
	}
	written := map[string]int{}
	for i, r := range all {
		same := call(t.Context(), t, "", nil, "init", r.Name)
		if diff := cmp.Diff(decoded(t, r.Cleaner), decoded(t, same.out)); same.code != 0 || diff != "" {
			t.Errorf("%s: exit %d, %s (-recipe +written):\n%s", r.Name, same.code, same.errOut, diff)
		}
		for flag, holds := range flags {
			got := call(t.Context(), t, "", nil, append([]string{"init", r.Name}, strings.Fields(flag)...)...)
			if got.code != 0 {
				if got.code != 1 || got.out != "" || !strings.Contains(got.errOut, "[E-RCP-002]") {
					t.Errorf("%s %s: exit %d\n%s%s", r.Name, flag, got.code, got.out, got.errOut)
				}
				continue
			}
			written[flag]++
			if !holds(decoded(t, got.out)) {
				t.Errorf("%s %s is not in what was written:\n%s", r.Name, flag, got.out)
			}
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d.yaml", i, written[flag])), []byte(got.out), 0o600))
		}
	}
	for flag, least := range map[string]int{
		"--name=mine --schedule=@daily": len(all), "--namespace=shop": 25, "--all-namespaces": len(all) - 1, "--namespace-selector=a!=b": 25, "--for=17d": 20, "--action=Delete": 20,
	} {
		if written[flag] < least {
			t.Errorf("only %d recipes can be written with %s", written[flag], flag)
		}
	}
	var linted struct{ Problems []manifest.Problem }
	got := call(t.Context(), t, "", nil, "lint", "-o", "json", "-f", dir)
	must(t, json.Unmarshal([]byte(got.out), &linted))
	for _, p := range linted.Problems {
		if p.Code != codes.Overlap && p.Code != codes.SameName { // all recipes together do; nobody arms all of them
			t.Errorf("%+v", p)
		}
	}
}

// TestInitFindsByWords: people look for a recipe with the word that they have.
func TestInitFindsByWords(t *testing.T) {
	for words, want := range map[string]string{
		"crash": "crash-looping-pods", "crashloopbackoff": "crash-looping-pods", "oom": "oom-killed-pods", "pvc": "unused", "hpa": "unused", "secrets": "unused",
		"image": "image-pull-errors", "evicted": "evicted-pods", "pending": "pending-pods", "helm": "helm-release-secrets", "tekton": "pipeline-runs", "argo": "workflows",
		"kustomize": "generated-configs", "rolebindings": "dangling-role-bindings", "tls": "expired-certificates", "cert-manager": "expiring-certificates",
		"replicasets": "old-replica-sets", "jobs": "finished-jobs", "endpoints": "services-without-endpoints", "namespaces empty": "empty-namespaces",
		"networkpolicy": "unused-report-only", "outdated secret": "pods-with-outdated-secrets", "node": "lost-nodes", "cronjob": "suspended-jobs",
		"restarted": "often-restarted-pods", "mount": "mount-failures", "failed job": "failed-jobs", "newest job": "jobs-keep-newest", "scale zero": "scaled-to-zero",
		"orphan": "unused", "missing configmap": "dangling-references", "ingress missing service": "dangling-references", "weekend": "scale-down-workloads",
		"downscale": "scale-down-workloads", "terminating": "stuck-deletions", "expired": "ttl-marks", "PR": "pull-request-leftovers",
		"kube-green": "scale-down-workloads", "kube-downscaler": "scale-down-workloads", "snapshots": "keep-newest", "volumesnapshot": "older-than",
		"gpu": "idle-by-metrics", "expensive": "load-balancers-without-endpoints",
		"revisionHistoryLimit": "old-replica-sets", // which only says so further below
	} {
		args := append([]string{"init", "--list", "-o", "name"}, strings.Fields(words)...)
		got := call(t.Context(), t, "", nil, args...)
		if names := strings.Fields(got.out); got.code != 0 || !slices.Contains(names, want) || len(names) > 17 {
			t.Errorf("%s: exit %d, %d recipes, %s is not among them, or there are too many: %s%s", words, got.code, len(names), want, got.out, got.errOut)
		}
	}
}
