// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// imported are the Cleaners that import writes for a file of testdata/import, created in the cluster. NAMESPACE in the file is the test's own.
func (b *bench) imported(wantCode int, from, file string, flags ...string) (all []*v1alpha1.Cleaner) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "import", file))
	must(b.t, err)
	source := strings.ReplaceAll(string(text), "NAMESPACE", b.namespace)
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(source), Out: &out, ErrOut: &errOut}
	options := terminal.Options{Version: "test", Scripts: sandbox.Config{Command: child}, Now: time.Now, Getenv: func(string) string { return "" }}
	args := append([]string{"import", from, "-"}, flags...)
	if code := cli.Execute(b.t.Context(), streams, options, args); code != wantCode {
		b.t.Fatalf("%v exits with %d:\n%s%s", args, code, out.String(), errOut.String())
	}
	for document := range strings.SplitSeq(out.String(), "---\n") {
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

// TestImportFromKyverno: match, exclude, names with wildcards, conditions on fields and on the age, and CEL as it is.
func TestImportFromKyverno(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings(map[string]func(*corev1.ConfigMap){
		"tmp-big": datum("size", "big"), "tmp-huge": datum("size", "huge"), "tmp-small": datum("size", "small"), "tmp-unsized": datum("color", "red"),
		"tmp-keep": datum("size", "big"), "other": datum("size", "big"),
		"tmp-labelled": func(cm *corev1.ConfigMap) { cm.Data["size"], cm.Labels["tier"] = "big", "prod" },
		"ephemeral":    label("ephemeral", "yes"), "lasting": label("ephemeral", "no"),
	})
	all := b.imported(codes.ExitDone, "kyverno", "kyverno.yaml", "--keep-action")
	if len(all) != 2 {
		t.Fatalf("%d Cleaners", len(all))
	}
	for _, c := range all {
		wantCounts(t, b.run(c), v1alpha1.RunCounts{Considered: 9}) // nothing is an hour old
	}
	b.clock.Step(2 * time.Hour)
	wantCounts(t, b.run(all[0]), v1alpha1.RunCounts{Considered: 9, Matched: 2, Acted: 2})
	b.wantNames("ephemeral", "lasting", "other", "tmp-keep", "tmp-labelled", "tmp-small", "tmp-unsized")
	wantCounts(t, b.run(all[1]), v1alpha1.RunCounts{Considered: 7, Matched: 1, Acted: 1})
	b.wantNames("lasting", "other", "tmp-keep", "tmp-labelled", "tmp-small", "tmp-unsized")
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
	wantOutcome(t, run, "odd", v1alpha1.OutcomeUnknown, `nobody can tell when its time is over: annotation janitor/ttl "1x" cannot be read`)
	b.wantNames("kept", "marked-temporary", "odd", "ours", "plain", "ttl-later")
}
