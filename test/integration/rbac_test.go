// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

// printedCase is a Cleaner, and what a run of it does that has all rights that rbac prints for it.
type printedCase struct {
	cleaner func(b *bench) *v1alpha1.Cleaner
	objects func(b *bench)
	want    string
	// few tries one verb only: that to select.
	few bool
}

// sample is a Cleaner of config/samples, under a name of its own.
func sample(file string, edit ...func(*v1alpha1.Cleaner)) func(b *bench) *v1alpha1.Cleaner {
	return func(b *bench) *v1alpha1.Cleaner {
		text, err := os.ReadFile("../../config/samples/" + file)
		must(b.t, err)
		var found v1alpha1.Cleaner
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			var c v1alpha1.Cleaner
			must(b.t, yaml.Unmarshal([]byte(doc), &c))
			if c.Kind == "Cleaner" {
				found = c
			}
		}
		return b.cleaner(found.EffectiveAction(), func(c *v1alpha1.Cleaner) {
			c.Spec = found.Spec
			for _, e := range append(edit, naming(b.namespace, "cleaner")) {
				e(c)
			}
			for i := range c.Spec.ResourcePolicySet.ResourceSelectors { // in a namespace of its own, beside other tests
				c.Spec.ResourcePolicySet.ResourceSelectors[i].NamespaceSelector = "cleaner-samples=" + b.namespace
			}
		})
	}
}

func deletesAs(edit ...func(*bench) func(*v1alpha1.Cleaner)) func(b *bench) *v1alpha1.Cleaner {
	return func(b *bench) *v1alpha1.Cleaner {
		edits := []func(*v1alpha1.Cleaner){naming(b.namespace, "cleaner"), maxCount(10)}
		for _, e := range edit {
			edits = append(edits, e(b))
		}
		return b.cleaner(v1alpha1.ActionDelete, edits...)
	}
}

// inside selects the objects of a kind in the test's namespace.
func inside(group, version, name string) func(*bench) func(*v1alpha1.Cleaner) {
	return func(b *bench) func(*v1alpha1.Cleaner) { return selecting(kind(group, version, name, b.namespace)) }
}

func always(edit func(*v1alpha1.Cleaner)) func(*bench) func(*v1alpha1.Cleaner) {
	return func(*bench) func(*v1alpha1.Cleaner) { return edit }
}

func (b *bench) web(annotations map[string]string) {
	b.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "web", Annotations: annotations}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "image"}}
	must(b.t, b.user.Create(b.t.Context(), d))
}

// TestPrintedRightsAreEnoughAndNoMore applies what rbac prints for a Cleaner, runs it to success as its account, and shows that it does not succeed with
// any verb less. The label and the namespaces narrow the samples down to the test's own namespace; other tests use the same cluster.
func TestPrintedRightsAreEnoughAndNoMore(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	labelled := func(b *bench) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
		must(b.t, b.user.Patch(b.t.Context(), ns, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"cleaner-samples":%q}}}`, b.namespace))))
	}
	for name, test := range map[string]printedCase{
		"sample: expired ConfigMaps": {sample("delete_expired_configmaps.yaml"), func(b *bench) {
			labelled(b)
			b.configMap("old", func(cm *corev1.ConfigMap) {
				cm.Annotations = map[string]string{"cleaner/expires": "2020-01-01T00:00:00Z"}
			})
		}, "1 deleted", false},
		"sample: paused Deployments": {sample("transform_pause_deployments.yaml"), func(b *bench) {
			labelled(b)
			b.web(map[string]string{"pause-resume": "true"})
		}, "1 changed", false},
		"sample: a team's ConfigMaps": {sample("team_service_account.yaml", func(c *v1alpha1.Cleaner) {
			c.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds = nil
			c.Spec.ResourcePolicySet.ResourceSelectors[0].Namespace = ""
		}), func(b *bench) {
			labelled(b)
			b.configMap("temporary", func(cm *corev1.ConfigMap) { cm.Labels["temporary"] = "" })
		}, "deleted", true},
		"sample: unused ConfigMaps": {sample("delete_unused_configmaps.yaml", func(c *v1alpha1.Cleaner) {
			c.Spec.Approval = nil
		}), func(b *bench) {
			labelled(b)
			b.serviceAccount()
			b.configMap("unused")
		}, "1 deleted", false},
		"finished Jobs": {deletesAs(inside("batch", "v1", "Job"), always(finds(v1alpha1.FindingFinished)), always(func(c *v1alpha1.Cleaner) {
			c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
		})), (*bench).finishedJob, "1 deleted", true},
		"a workload": {deletesAs(inside("apps", "v1", "Deployment")), func(b *bench) { b.web(nil) }, "1 deleted", false},
		"evicted Pods with events": {
			deletesAs(inside("", "v1", "Pod"), always(withEvents), always(func(c *v1alpha1.Cleaner) {
				c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PodDeletion: v1alpha1.PodDeletionEvict}
			})), func(b *bench) {
				b.serviceAccount()
				b.pod("web", "any", withEphemeralVolume)
			}, "1 deleted", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, as(config))
			c := test.cleaner(b)
			test.objects(b)
			b.provesLeast(c, test)
		})
	}
}

// withEphemeralVolume lets a Pod own a claim, which goes with it.
func withEphemeralVolume(pod *corev1.Pod) {
	claim := &corev1.PersistentVolumeClaimTemplate{}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	volume := corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: claim}}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
}

// finishedJob creates a Job that has finished.
func (b *bench) finishedJob() {
	b.t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "done"}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "image"}}
	must(b.t, b.user.Create(b.t.Context(), job))
	long := metav1.NewTime(time.Now().Add(-time.Hour))
	job.Status.StartTime, job.Status.CompletionTime, job.Status.Succeeded = &long, &long, 1
	for _, typ := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: typ, Status: corev1.ConditionTrue, LastTransitionTime: long})
	}
	must(b.t, b.user.Status().Update(b.t.Context(), job))
}

// provesLeast first runs the Cleaner with one verb less each time, which leaves its object alone, and then with all.
func (b *bench) provesLeast(c *v1alpha1.Cleaner, test printedCase) {
	b.t.Helper()
	all, roles := b.applyPrinted(c)
	tried, choose := 0, rand.New(rand.NewPCG(seed.New(), 0))
	for _, g := range all {
		// Without the definitions, a run reads all custom resources: that is no failure. One namespace's right gives the cluster's nothing.
		// Kinds of other tests come and go.
		if !g.must() || strings.HasSuffix(g.group, ".kubecleaner.dev") || g.resource == "customresourcedefinitions" || c.HasFindings() && g.doubts() || test.few && (tried > 0 || g.verb != "list") {
			continue
		}
		// A finding reads dozens of kinds in the same way: a third of them, others each time, is enough.
		if c.HasFindings() && !test.few && g.verb == "list" && g.resource != "configmaps" && choose.IntN(3) > 0 {
			continue
		}
		tried++
		role := roles[slices.IndexFunc(roles, func(o client.Object) bool { return o.GetNamespace() == g.namespace })]
		var before []rbacv1.PolicyRule
		b.rewrite(role, func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { before = rules; return without(rules, g) })
		b.awaitNoRight(b.accountName(), g.attributes())
		run := b.run(c)
		for again := 0; again < 5 && changedMeanwhile(run); again++ {
			run = b.run(c) // another test installed a custom resource between the two readings
		}
		if run.Status.Reason == v1alpha1.ReasonCompleted && strings.Contains(run.Status.Message, test.want) {
			b.t.Fatalf("the run succeeds without %+v, which is printed: %s", g, run.Status.Message)
		} else if finding := c.Spec.ResourcePolicySet.ResourceSelectors[0].Finding; finding != nil && finding.Type == v1alpha1.FindingUnused &&
			run.Status.Reason == v1alpha1.ReasonCompleted && !strings.Contains(run.Status.Message, "Left alone as Unknown") {
			b.t.Errorf("without %+v, nobody is told: %s %+v", g, run.Status.Message, run.Status.Objects)
		}
		b.rewrite(role, func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return before })
		awaitRight(b.t, b.accountName(), g.attributes())
	}
	if tried == 0 {
		b.t.Error("no right was tried")
	}
	run := b.run(c)
	for again := 0; again < 5 && !strings.Contains(run.Status.Message, test.want); again++ {
		b.applyPrinted(c) // another test may have installed a custom resource meanwhile
		run = b.run(c)
	}
	wantRun(b.t, run, v1alpha1.ReasonCompleted, test.want)
}

// changedMeanwhile says whether a run left an object alone because its second reading differs from its first.
func changedMeanwhile(run *v1alpha1.CleanerRun) bool {
	return slices.ContainsFunc(run.Status.Objects, func(o v1alpha1.ObjectOutcome) bool { return o.Outcome == v1alpha1.OutcomeChanged })
}

// applyPrinted applies what rbac prints, and waits until it is in force.
func (b *bench) applyPrinted(c *v1alpha1.Cleaner) (all []granted, roles []client.Object) {
	b.t.Helper()
	text := printed(b.t, c.Name)
	kubectl(b.t, text, "apply", "--server-side", "--force-conflicts", "-f", "-")
	all, roles = grants(b.t, text)
	for _, role := range roles {
		b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), role) })
	}
	for _, g := range all {
		awaitRight(b.t, b.accountName(), g.attributes())
	}
	return all, roles
}
