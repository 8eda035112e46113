// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// ran is the record of a run that deleted the objects, which it copied.
func ran(t *testing.T, c client.Client, of *v1alpha1.Cleaner, objects map[string]client.Object) *v1alpha1.CleanerRun {
	t.Helper()
	ctx := t.Context()
	place := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}}
	if err := c.Create(ctx, place); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	book := journal.New(c, cluster.DefaultOperatorNamespace, clocktesting.NewFakePassiveClock(time.Now()))
	run, err := book.Begin(ctx, of, v1alpha1.CleanerRunSpec{
		Cleaner: of.Name, CleanerUID: of.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete,
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Delete(context.Background(), run) })
	var victims []journal.Victim
	var outcomes []stage.Outcome
	for kind, o := range objects {
		raw, err := json.Marshal(o)
		must(t, err)
		of, err := object.New(object.Kind{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Resource: strings.ToLower(kind) + "s", Namespaced: true,
		}, raw)
		must(t, err)
		candidate := stage.Candidate{Object: of}
		victims = append(victims, journal.Victim{Candidate: candidate})
		outcomes = append(outcomes, stage.Outcome{
			Verdict: stage.Verdict{Candidate: candidate, Act: true}, Result: v1alpha1.OutcomeDeleted,
		})
	}
	ledger, err := book.Intend(ctx, of, run, int64(len(victims)), nil, victims)
	must(t, err)
	for i := range victims {
		must(t, ledger.Record(ctx, i, outcomes[i]))
	}
	must(t, ledger.Flush(ctx))
	journal.Describe(run, int64(len(victims)), outcomes)
	book.End(run, v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.")
	must(t, book.Save(ctx, run, v1alpha1.RunExecuting))
	return run
}

// TestCopyAndLive compares copies with what is there: a ConfigMap that is gone, and a Secret with another value.
func TestCopyAndLive(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	settings := create(t, c, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "settings"}, Data: map[string]string{"colour": "red"},
	})
	password := create(t, c, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "password"}, StringData: map[string]string{"p": "hunter2-was", "same": "unchanged-1"},
	})
	of := cleaner(t, c, shop, func(spec *v1alpha1.CleanerSpec) { spec.Action = ptr.To(v1alpha1.ActionDelete) })
	run := ran(t, c, of, map[string]client.Object{"ConfigMap": settings.DeepCopy(), "Secret": password.DeepCopy()})
	must(t, c.Delete(t.Context(), settings))
	password.Data["p"] = []byte("hunter2-is")
	must(t, c.Update(t.Context(), password))

	v := visit(t, env.Config)
	path := "runs/" + run.Name + "/copy?object="
	var got CopyCompared
	v.wants(http.StatusOK, http.MethodGet, path+"ConfigMap/"+shop+"/settings", nil, &got)
	want := "apiVersion: v1\ndata:\n  colour: red\nkind: ConfigMap\nmetadata:\n  annotations:\n    apps.projectsveltos.io/restored-from: " + string(run.UID) +
		"\n  name: settings\n  namespace: " + shop + "\n"
	if got.After != want || got.Live != "" || !got.Restores || len(got.LeftOut) > 0 {
		t.Errorf("of one that is gone: %+v", got)
	}
	for force, restores := range map[string]bool{"false": false, "true": true} {
		var got CopyCompared
		v.wants(http.StatusOK, http.MethodGet, path+"Secret/"+shop+"/password&force="+force, nil, &got)
		if !strings.Contains(got.After, "p: '****** (after)'\n  same: '******'\n") || !strings.Contains(got.Live, "p: '****** (before)'\n") ||
			got.Restores != restores || strings.Contains(got.Why, "an object with this name exists") == restores {
			t.Errorf("of a Secret, force=%s: %+v", force, got)
		}
	}
	v.wants(http.StatusNotFound, http.MethodGet, path+"ConfigMap/"+shop+"/other", nil, nil)
	v.wants(http.StatusBadRequest, http.MethodGet, path+"settings", nil, nil)
	nobody, err := env.AddUser("copy-nobody")
	must(t, err)
	visit(t, nobody.Config()).wants(http.StatusForbidden, http.MethodGet, path+"ConfigMap/"+shop+"/settings", nil, nil)
}

// TestCompareShowsWhatARestoreMakes: of a claim that was bound, the volume and what the server set do not come back.
func TestCompareShowsWhatARestoreMakes(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	claim := create(t, c, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: shop, Name: "data", Finalizers: []string{"example.com/hold"},
			Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes", "team": "shop"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "pv-1",
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		},
	})
	of := cleaner(t, c, shop, func(spec *v1alpha1.CleanerSpec) { spec.Action = ptr.To(v1alpha1.ActionDelete) })
	run := ran(t, c, of, map[string]client.Object{"PersistentVolumeClaim": claim.DeepCopy()})
	claim.Finalizers = nil
	must(t, c.Update(t.Context(), claim))
	must(t, c.Delete(t.Context(), claim))
	var got CopyCompared
	visit(t, env.Config).wants(http.StatusOK, http.MethodGet, "runs/"+run.Name+"/copy?object=PersistentVolumeClaim/"+shop+"/data", nil, &got)
	want := []string{"metadata.annotations[\"pv.kubernetes.io/bind-completed\"]", "metadata.finalizers", "spec.volumeName"}
	if diff := cmp.Diff(want, got.LeftOut); diff != "" || strings.Contains(got.After, "pv-1") || !strings.Contains(got.After, "team: shop") {
		t.Errorf("left out (-want +got):\n%s\n%s", diff, got.After)
	}
}
