// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// onServer are recipes whose objects can be made by anyone: what they find depends on no UID, no moment of creation, and no name of a namespace.
var onServer = []string{
	"completed-pods", "crash-looping-pods", "evicted-pods", "expired-certificates", "expiring-certificates",
	"generated-configs", "helm-release-secrets", "image-pull-errors", "often-restarted-pods", "oom-killed-pods", "pending-pods", "pipeline-runs",
	"services-without-endpoints", "suspended-jobs", "unbound-volume-claims", "unused", "unused-image-pull-secrets",
	"unused-in-labelled-namespaces", "used-only-by-unused", "workflows",
}

// testObjects looks whether the recipes choose on an API server, which knows schemas and sets defaults, what they choose in files.
func testObjects(t *testing.T) {
	c, err := client.New(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all(t) {
		if !slices.Contains(onServer, r.Name) {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			s := &site{T: t, Client: c, prefix: r.Name + "-"}
			s.create(&r, "resources.yaml")
			want := s.create(&r, "matching.yaml")
			s.create(&r, "non-matching.yaml") // last: the newest of several is one that is kept
			if len(want) == 0 {
				t.Fatal("there is nothing to find")
			}
			if diff := cmp.Diff(want, s.preview(&r)); diff != "" {
				t.Errorf("-files +server:\n%s", diff)
			}
		})
	}
}

// site makes objects in namespaces of its own.
type site struct {
	*testing.T
	client.Client
	prefix string
}

// create makes the objects of a file that have a namespace, and returns their names. It leaves out those of the future, and Pods with a priority,
// because the API server takes that only from a class.
func (s *site) create(r *recipe, file string) (made []string) {
	s.Helper()
	if file == "resources.yaml" && !exists(r.path(file)) {
		return nil
	}
	for _, value := range objects(s.T, r.path(file)) {
		o := &unstructured.Unstructured{Object: value}
		if o.GetKind() == "Namespace" {
			s.namespace(o.GetName(), o.GetLabels())
		}
		created := o.GetCreationTimestamp()
		_, hasPriority, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "priority")
		if o.GetNamespace() == "" || created.Year() > 2100 || hasPriority {
			continue
		}
		s.namespace(o.GetNamespace(), nil)
		o.SetNamespace(s.prefix + o.GetNamespace())
		o.SetCreationTimestamp(metav1.Time{})
		o.SetUID("")
		status := o.Object["status"]
		if err := s.Create(s.Context(), o); err != nil {
			s.Fatalf("%s: %v", file, err)
		}
		if status != nil {
			o.Object["status"] = status
			if err := s.Status().Update(s.Context(), o); err != nil {
				s.Fatalf("%s: the status of %s: %v", file, o.GetName(), err)
			}
		}
		made = append(made, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
	}
	slices.Sort(made)
	return made
}

func (s *site) namespace(name string, labels map[string]string) {
	s.Helper()
	err := s.Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.prefix + name, Labels: labels}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
}

// preview is what the recipe would find in these namespaces in three days.
func (s *site) preview(r *recipe) (found []string) {
	s.Helper()
	later := time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	code, out, errOut := call(s.T, "preview", "-f", r.path("cleaner.yaml"), "--now", later, "-o", "json", "--progress", "none", "--kubeconfig", env.Kubeconfig)
	var report struct {
		Cleaners []struct {
			Incomplete string
			Objects    []struct{ Kind, Namespace, Name string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || report.Cleaners[0].Incomplete != "" {
		s.Fatalf("exit %d, %v\n%s%s", code, err, out, errOut)
	}
	for _, o := range report.Cleaners[0].Objects {
		if strings.HasPrefix(o.Namespace, s.prefix) {
			found = append(found, o.Kind+" "+o.Namespace+"/"+o.Name)
		}
	}
	slices.Sort(found)
	return found
}

// testOutdatedSecrets looks at the times that the API server itself writes down when a Secret is changed.
func testOutdatedSecrets(t *testing.T) {
	c, err := client.New(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, Client: c, prefix: "outdated-"}
	s.namespace("shop", nil)
	if err := c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "outdated-shop", Name: "password"}, StringData: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	isController := true
	for name, started := range map[string]time.Duration{"older": -time.Hour, "newer": time.Hour} {
		from := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}}}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "outdated-shop", Name: name,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "shop", UID: "1", Controller: &isController}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/shop", EnvFrom: []corev1.EnvFromSource{from}}}},
		}
		if err := c.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		running := &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now().Add(started))}
		pod.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: running}}},
		}
		if err := c.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range all(t) {
		if r.Name != "pods-with-outdated-secrets" {
			continue
		}
		if diff := cmp.Diff([]string{"Pod outdated-shop/older"}, s.preview(&r)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
