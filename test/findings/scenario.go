// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package findings proves what findings say: small clusters with an expected answer for each object, all on one real API server.
package findings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// scenario is a small cluster, in a namespace of its own, and what is to be found in it.
type scenario struct {
	// Scenario says in a sentence what it is about, and From where that comes from: an issue, a section of the rules.
	Scenario string `json:"scenario"`
	From     string `json:"from,omitempty"`
	// Objects are manifests. What is namespaced and names no namespace is in the scenario's own, which ${ns} stands for.
	Objects string `json:"objects"`
	// Expect says of objects, as Kind/name or Kind/namespace/name, what is to be found: types of findings with commas between them, each with
	// a "?" behind it when it is unknown; "used" when nothing is. Whatever else is found in the scenario is wrong.
	Expect map[string]string `json:"expect"`

	file      string
	namespace string
}

// load reads all scenarios of a directory.
func load(dir string) ([]*scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*scenario
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var found []*scenario
		if err := yaml.UnmarshalStrict(text, &found); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i, s := range found {
			s.file = filepath.Base(file)
			s.namespace = fmt.Sprintf("%s-%d", strings.TrimSuffix(s.file, ".yaml"), i+1)
			all = append(all, s)
		}
	}
	return all, nil
}

// cluster creates objects.
type cluster struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newCluster(config *rest.Config) (*cluster, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &cluster{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}, nil
}

// create creates the namespace and the objects of a scenario, each with its status. It returns their names, as findings have them, by their
// keys, as Expect has them.
func (c *cluster) create(ctx context.Context, s *scenario) (names map[string]string, err error) {
	names = map[string]string{}
	namespace := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n", s.namespace)
	text := strings.ReplaceAll(namespace+s.Objects, "${ns}", s.namespace)
	for document := range strings.SplitSeq(text, "\n---\n") {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", s.file, s.Scenario, err)
		}
		if len(value) == 0 {
			continue
		}
		o := &unstructured.Unstructured{Object: value}
		if err := c.createOne(ctx, s, o); err != nil {
			return nil, fmt.Errorf("%s: %q: %s %s: %w", s.file, s.Scenario, o.GetKind(), o.GetName(), err)
		}
		name := o.GetName()
		if o.GetNamespace() != "" {
			name = o.GetNamespace() + "/" + name
		}
		key := strings.TrimPrefix(name, s.namespace+"/")
		names[o.GetKind()+"/"+key] = o.GetKind() + " " + name
	}
	return names, nil
}

func (c *cluster) createOne(ctx context.Context, s *scenario, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = c.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if o.GetNamespace() == "" {
			o.SetNamespace(s.namespace)
		}
		client = c.client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
	status, hasStatus := o.Object["status"]
	isDeleting := o.GetDeletionTimestamp() != nil
	o.SetDeletionTimestamp(nil)
	if _, err = client.Create(ctx, o, metav1.CreateOptions{}); err != nil {
		if apierrors.IsAlreadyExists(err) { // Kubernetes was faster: the default ServiceAccount, or another scenario's namespace
			return nil
		}
		return err
	}
	if hasStatus {
		if _, err := client.Patch(ctx, o.GetName(), mergePatch, statusPatch(status), metav1.PatchOptions{}, "status"); err != nil {
			return fmt.Errorf("its status: %w", err)
		}
	}
	if isDeleting {
		return client.Delete(ctx, o.GetName(), metav1.DeleteOptions{})
	}
	return nil
}
