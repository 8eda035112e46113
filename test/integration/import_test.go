// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// importSource is a file of testdata/import. NAMESPACE in it is the test's own.
func (b *bench) importSource(file string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "import", file))
	must(b.t, err)
	return strings.ReplaceAll(string(text), "NAMESPACE", b.namespace)
}

// importing calls import with flags and the text.
func (b *bench) importing(source string, args ...string) (out, errOut string, code int) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(source), Out: &stdout, ErrOut: &stderr}
	options := terminal.Options{Version: "test", Scripts: sandbox.Config{Command: child}, Now: time.Now, Getenv: func(string) string { return "" }}
	code = cli.Execute(b.t.Context(), streams, options, append([]string{"import"}, args...))
	return stdout.String(), stderr.String(), code
}

// imported are the Cleaners that import writes for a file, created in the cluster.
func (b *bench) imported(wantCode int, from, file string, flags ...string) (all []*v1alpha1.Cleaner) {
	b.t.Helper()
	out, errOut, code := b.importing(b.importSource(file), append([]string{from, "-"}, flags...)...)
	if code != wantCode {
		b.t.Fatalf("%s exits with %d:\n%s%s", file, code, out, errOut)
	}
	for document := range strings.SplitSeq(out, "---\n") {
		if document == "" {
			continue
		}
		var c v1alpha1.Cleaner
		must(b.t, yaml.UnmarshalStrict([]byte(document), &c))
		c.Name += "-" + b.namespace
		must(b.t, b.user.Create(b.t.Context(), &c))
		b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), &c) })
		all = append(all, &c)
	}
	return all
}

// settings creates ConfigMaps with labels, annotations and data, by name.
func (b *bench) settings(all map[string]func(*corev1.ConfigMap)) {
	b.t.Helper()
	for name, edit := range all {
		b.configMap(name, func(cm *corev1.ConfigMap) {
			cm.Annotations, cm.Data = map[string]string{}, map[string]string{}
			edit(cm)
		})
	}
}

func label(key, value string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) { cm.Labels[key] = value }
}

func annotation(key, value string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) { cm.Annotations[key] = value }
}

func datum(key, value string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) { cm.Data[key] = value }
}

// TestImportFromK8sCleaner: a Cleaner without an action deletes there. Here it only reports, until somebody asks for its action.
func TestImportFromK8sCleaner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings(map[string]func(*corev1.ConfigMap){"old": label("state", "old"), "new": label("state", "new")})
	for _, test := range []struct {
		flags  []string
		action string
		left   []string
	}{{nil, "Scan", []string{"new", "old"}}, {[]string{"--keep-action"}, "Delete", []string{"new"}}} {
		all := b.imported(codes.ExitDone, "k8s-cleaner", "k8s-cleaner.yaml", test.flags...)
		if len(all) != 1 || all[0].Spec.Action == nil || string(*all[0].Spec.Action) != test.action || all[0].Spec.ResourcePolicySet.Action != nil {
			t.Fatalf("%v: %+v", test.flags, all)
		}
		wantCounts(t, b.run(all[0]), v1alpha1.RunCounts{Considered: 2, Matched: 1, Acted: int64(2 - len(test.left))})
		b.wantNames(test.left...)
		must(t, b.user.Delete(t.Context(), all[0]))
	}
}

// TestImportFromKyverno: match, exclude, resourceFilters, names with wildcards, conditions on fields and on the age, and CEL as it is.
func TestImportFromKyverno(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings(map[string]func(*corev1.ConfigMap){
		"tmp-big": datum("size", "big"), "tmp-huge": datum("size", "huge"), "tmp-small": datum("size", "small"), "tmp-unsized": datum("color", "red"),
		"tmp-keep": datum("size", "big"), "tmp-vip": datum("size", "big"), "other": datum("size", "big"),
		"tmp-labelled": func(cm *corev1.ConfigMap) { cm.Data["size"], cm.Labels["tier"] = "big", "prod" },
		"ephemeral":    label("ephemeral", "yes"), "lasting": label("ephemeral", "no"),
	})
	all := b.imported(codes.ExitDone, "kyverno", "kyverno.yaml", "--keep-action")
	if len(all) != 2 {
		t.Fatalf("%d Cleaners", len(all))
	}
	for _, c := range all {
		wantCounts(t, b.run(c), v1alpha1.RunCounts{Considered: 10}) // nothing is an hour old
	}
	b.clock.Step(2 * time.Hour)
	wantCounts(t, b.run(all[0]), v1alpha1.RunCounts{Considered: 10, Matched: 2, Acted: 2})
	b.wantNames("ephemeral", "lasting", "other", "tmp-keep", "tmp-labelled", "tmp-small", "tmp-unsized", "tmp-vip")
	wantCounts(t, b.run(all[1]), v1alpha1.RunCounts{Considered: 8, Matched: 1, Acted: 1})
	b.wantNames("lasting", "other", "tmp-keep", "tmp-labelled", "tmp-small", "tmp-unsized", "tmp-vip")
}

// TestImportOfKyvernosLabel: no policy names the objects that have it. One that cannot be read keeps its object.
func TestImportOfKyvernosLabel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const ttl = "cleanup.kyverno.io/ttl"
	b.settings(map[string]func(*corev1.ConfigMap){
		"soon": label(ttl, "1h"), "later": label(ttl, "1w"), "over": label(ttl, "2026-01-01"), "odd": label(ttl, "1x"), "plain": label("a", "b"),
	})
	labelled := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {" + ttl + ": 1h}}\n"
	out, errOut, code := b.importing(labelled, "kyverno", "-", "--keep-action")
	wantTexts(t, "what is said", errOut, "the Cleaner kyverno-ttl reads it on the kinds that have it now (1 ConfigMap)")
	var c v1alpha1.Cleaner
	must(t, yaml.UnmarshalStrict([]byte(out), &c))
	if code != codes.ExitDone || len(c.Spec.ResourcePolicySet.ResourceSelectors) != 1 {
		t.Fatalf("it exits with %d and writes\n%s", code, out)
	}
	c.Name += "-" + b.namespace
	c.Spec.ResourcePolicySet.ResourceSelectors[0].Namespace = b.namespace // objects of other tests may have the label, too
	must(t, b.user.Create(t.Context(), &c))
	t.Cleanup(func() { _ = b.user.Delete(context.Background(), &c) })
	b.clock.Step(2 * time.Hour)
	wantOutcome(t, b.run(&c), "odd", v1alpha1.OutcomeUnknown, `it is unknown when it expires: label cleanup.kyverno.io/ttl "1x" cannot be read`)
	b.wantNames("later", "odd", "plain")
}

// TestImportFromKubeJanitor: rules in their order, and annotations. One that cannot be read keeps its object.
func TestImportFromKubeJanitor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings(map[string]func(*corev1.ConfigMap){
		"temporary": label("temporary", "yes"), "kept": func(cm *corev1.ConfigMap) { cm.Labels["temporary"], cm.Labels["keep"] = "yes", "main" },
		"plain":            label("a", "b"),
		"marked-temporary": func(cm *corev1.ConfigMap) { cm.Labels["temporary"], cm.Annotations["janitor/ttl"] = "yes", "forever" },
		"ttl":              annotation("janitor/ttl", "1h"), "ttl-later": annotation("janitor/ttl", "1w"),
		"expires": annotation("janitor/expires", "2026-01-01"),
		"odd":     annotation("janitor/ttl", "1x"), "ours": annotation("cleaner/ttl", "1h"),
	})
	all := b.imported(codes.ExitDone, "kube-janitor", "kube-janitor.yaml", "--keep-action")
	if len(all) != 2 {
		t.Fatalf("%d Cleaners", len(all))
	}
	b.clock.Step(2 * time.Hour)
	wantCounts(t, b.run(all[0]), v1alpha1.RunCounts{Considered: 9, Matched: 1, Acted: 1})
	b.wantNames("expires", "kept", "marked-temporary", "odd", "ours", "plain", "ttl", "ttl-later")
	run := b.run(all[1])
	wantOutcome(t, run, "odd", v1alpha1.OutcomeUnknown, `it is unknown when it expires: annotation janitor/ttl "1x" cannot be read`)
	b.wantNames("kept", "marked-temporary", "odd", "ours", "plain", "ttl-later")
}

// TestImportFromCluster: what the tools have in the cluster is read in the version that it serves, and says the same as the files.
//
// It is not parallel: others look for what nobody uses, and objects of these kinds may use anything.
func TestImportFromCluster(t *testing.T) {
	b := newBench(t)
	b.define("Namespaced", "kyverno.io", "v2", "cleanuppolicies", "CleanupPolicy")
	b.define("Cluster", "policies.kyverno.io", "v1", "deletingpolicies", "DeletingPolicy")
	b.define("Namespaced", "policies.kyverno.io", "v1", "policyexceptions", "PolicyException")
	exception := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policies.kyverno.io/v1", "kind": "PolicyException", "metadata": map[string]any{"namespace": b.namespace, "name": "keep"},
		"spec": map[string]any{
			"policyRefs":      []any{map[string]any{"kind": "DeletingPolicy", "name": "ephemeral-configmaps"}},
			"matchConditions": []any{map[string]any{"name": "kept", "expression": "object.metadata.name == 'kept'"}},
		},
	}}
	must(t, b.user.Create(t.Context(), exception))
	t.Cleanup(func() { _ = b.user.Delete(context.Background(), exception) })
	for _, file := range []string{"kyverno.yaml", "kube-janitor.yaml", "k8s-cleaner.yaml"} {
		for document := range strings.SplitSeq(strings.ReplaceAll(b.importSource(file), "namespace: janitor", "namespace: "+b.namespace), "---\n") {
			var u unstructured.Unstructured
			must(t, yaml.Unmarshal([]byte(document), &u.Object))
			if file == "k8s-cleaner.yaml" { // Cleaners belong to no namespace, and other tests have some
				u.SetName(u.GetName() + "-" + b.namespace)
			}
			if u.GetKind() == "Deployment" {
				must(t, unstructured.SetNestedField(u.Object, []any{map[string]any{
					"name":      "rules",
					"configMap": map[string]any{"name": "kube-janitor"},
				}}, "spec", "template", "spec", "volumes"))
			}
			must(t, b.user.Create(t.Context(), &u))
			t.Cleanup(func() { _ = b.user.Delete(context.Background(), &u) })
		}
	}
	b.settings(map[string]func(*corev1.ConfigMap){"labelled": label("cleanup.kyverno.io/ttl", "9999h")})
	for from, want := range map[string][]string{
		"kyverno": {
			"name: kyverno-ttl\n",
			"# From CleanupPolicy temporary-configmaps of Kyverno, cleanuppolicy/" + b.namespace + "/temporary-configmaps:1\n",
			"# From DeletingPolicy ephemeral-configmaps of Kyverno, ", "object.metadata.name.matches('^tmp-vi.$')",
			"expression: '!((object.metadata.name == ''kept''))'\n",
		},
		"kube-janitor": {
			"# From rule temporary of kube-janitor, configmap/" + b.namespace + "/kube-janitor:",
			"kubernetes.io/metadata.name in (" + b.namespace + ")", "name: kube-janitor-marks\n",
		},
		"k8s-cleaner": {"name: old-configmaps-" + b.namespace + "\n"},
	} {
		out, errOut, _ := b.importing("", from, "--from-cluster", "--kubeconfig",
			env.Kubeconfig) // other tests have Cleaners that cannot be carried over
		wantTexts(t, "what is written", out, want...)
		if strings.Contains(out, "uid:") || strings.Contains(out, "resourceVersion:") {
			t.Errorf("%s: it has what belongs to one cluster:\n%s%s", from, out, errOut)
		}
	}
}

// define makes the API server serve a kind of any content, until the test ends.
func (b *bench) define(scope, group, version, plural, kind string) {
	b.t.Helper()
	content := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	d := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": group, "scope": scope,
		"names":    map[string]any{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
		"versions": []any{map[string]any{"name": version, "served": true, "storage": true, "schema": content}},
	}}}
	d.SetAPIVersion("apiextensions.k8s.io/v1")
	d.SetKind("CustomResourceDefinition")
	d.SetName(plural + "." + group)
	must(b.t, b.user.Create(b.t.Context(), d))
	served := func(want bool) error {
		return wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			err := b.user.Get(ctx, client.ObjectKeyFromObject(d), d)
			conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
			established := slices.ContainsFunc(conditions, func(c any) bool {
				fields, _ := c.(map[string]any)
				return fields["type"] == "Established" && fields["status"] == "True"
			})
			if !want || err != nil || !established {
				return !want && apierrors.IsNotFound(err), nil
			}
			// Discovery follows only after the kind is established: a client may not know the kind yet.
			_, err = b.user.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind}, version)
			return err == nil, nil
		})
	}
	b.t.Cleanup(func() {
		must(b.t, b.user.Delete(context.Background(), d))
		must(b.t, served(false))
	})
	must(b.t, served(true))
}
