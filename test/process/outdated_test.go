// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// install replaces the CustomResourceDefinitions that the files hold.
func install(t *testing.T, c client.Client, files ...string) {
	t.Helper()
	must(t, apiextensionsv1.AddToScheme(c.Scheme()))
	ctx := context.Background()
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for document := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("---\n")), []byte("\n---\n")) {
			var wanted, live apiextensionsv1.CustomResourceDefinition
			must(t, yaml.UnmarshalStrict(document, &wanted))
			must(t, c.Get(ctx, client.ObjectKeyFromObject(&wanted), &live))
			live.Spec = wanted.Spec
			must(t, c.Update(ctx, &live))
		}
	}
}

// TestForeignSchemaUnderAManager: a Cleaner of old objects that runs each second reads as one of all objects, from one moment to the
// next, when k8s-cleaner's CustomResourceDefinitions come over ours. The manager stops, deletes nothing, writes nothing, and goes on
// by itself when ours are back.
func TestForeignSchemaUnderAManager(t *testing.T) {
	c := newClient(t)
	name := fmt.Sprintf("outdated-%d", time.Now().UnixNano())
	newNamespace(t, c, name, 5)
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Name = name
	cleaner.Spec = v1alpha1.CleanerSpec{
		Schedule: "* * * * * *", Action: ptr.To(v1alpha1.ActionDelete), StartingDeadlineSeconds: ptr.To[int64](5),
		ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{
			{Version: "v1", Kind: "ConfigMap", Namespace: name, MinAgeSeconds: ptr.To[int64](720 * 3600)},
		}},
	}
	must(t, c.Create(t.Context(), cleaner))
	t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
	last := func(ctx context.Context) (time.Time, error) {
		var runs v1alpha1.CleanerRunList
		err := c.List(ctx, &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(cleaner.UID)})
		var latest time.Time
		for _, run := range runs.Items {
			if run.Spec.NominalTime.After(latest) {
				latest = run.Spec.NominalTime.Time
			}
		}
		return latest, err
	}
	runs := func(what string, after time.Time) (latest time.Time) {
		t.Helper()
		eventually(t, what, func(ctx context.Context) (_ bool, err error) {
			latest, err = last(ctx)
			return latest.After(after), err
		})
		return latest
	}
	first := startManager(t)
	latest := runs("it runs", time.Time{})
	first.stop(t)
	m := startManager(t) // for this one, the edit is not so young that it is in doubt
	runs("it runs under the next manager", latest)
	ours := []string{"../../config/crd/bases/apps.projectsveltos.io_cleaners.yaml", "../../config/crd/bases/apps.projectsveltos.io_reports.yaml"}
	t.Cleanup(func() { install(t, c, ours...) })
	install(t, c, "../k8scleaner/crds.yaml")
	replaced := time.Now()
	eventually(t, "the manager says that nothing runs", func(context.Context) (bool, error) {
		return strings.Contains(m.log.tail(1<<20), "Nothing runs, because fields of Cleaners may be lost"), nil
	})
	stopped, err := last(t.Context())
	must(t, err)
	if after := stopped.Sub(replaced); after > 2*time.Second {
		t.Errorf("a run was due %s after the schemas were replaced", after)
	}
	var before, now v1alpha1.Cleaner
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(cleaner), &before))
	quiet := time.Now().Add(5 * time.Second)
	eventually(t, "five seconds have passed", func(context.Context) (bool, error) { return time.Now().After(quiet), nil })
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(cleaner), &now))
	latest, err = last(t.Context())
	must(t, err)
	if !latest.Equal(stopped) || now.ResourceVersion != before.ResourceVersion {
		t.Errorf("it ran at %s, and not only at %s, or was written: version %s, before %s", latest, stopped, now.ResourceVersion, before.ResourceVersion)
	}
	install(t, c, ours...)
	runs("it runs again", stopped)
	if left := len(configMaps(t, c, name)); left < 5 {
		t.Errorf("%d of 5 objects are left", left)
	}
}
