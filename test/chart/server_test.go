// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var env *testenv.Env

// The control plane has no CustomResourceDefinitions: the chart brings them.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(testenv.Main(m, &env, testenv.Options{CRDs: []string{}}))
}

// operatorNamespace makes the release's namespace, with the Pod security of config/default, and returns the administrator's client.
func operatorNamespace(t *testing.T) client.Client {
	t.Helper()
	admin, err := client.New(env.Config, client.Options{})
	must(t, err)
	err = admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	return admin
}

// TestAccepted: the API server accepts every object, with no field that it does not know, and the restricted namespace accepts the Pods,
// also that of helm test.
func TestAccepted(t *testing.T) {
	admin := operatorNamespace(t)
	strict := client.WithFieldValidation(admin, metav1.FieldValidationStrict)
	for name, v := range ciValues(t) {
		t.Run(name, func(t *testing.T) {
			r, err := helm3{}.render("kubecleaner", chartDir, v)
			must(t, err)
			for name, o := range objects(t, r.manifest+r.tests) {
				if o.GroupVersionKind().Group == "monitoring.coreos.com" {
					continue // this control plane does not have the Prometheus operator's kinds
				}
				within, err := admin.IsObjectNamespaced(o)
				must(t, err)
				if within && o.GetNamespace() == "" { // helm install puts extra objects into the release's namespace
					o.SetNamespace(namespace)
				}
				if err := strict.Create(t.Context(), o.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if o.GetKind() == "Deployment" {
					acceptPod(t, admin, o)
				}
			}
		})
	}
}

// acceptPod creates the Pod of a Deployment, without keeping it.
func acceptPod(t *testing.T, admin client.Client, deployment *unstructured.Unstructured) {
	t.Helper()
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	must(t, err)
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName("manager")
	pod.SetNamespace(deployment.GetNamespace())
	if err := admin.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("the Pod: %v", err)
	}
}
