// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// cluster creates objects.
type cluster struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
	// namespaces are those that were created.
	namespaces map[string]bool
	// addresses is how many Pods have an address.
	addresses int
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
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return &cluster{client: client, mapper: mapper, namespaces: map[string]bool{}}, nil
}

// create creates the objects of a scenario, each with its status, and its namespace, if any is in it. It returns their names, as findings have
// them, by their keys, as Expect has them.
func (c *cluster) create(ctx context.Context, s *scenario) (names map[string]string, err error) {
	names = map[string]string{}
	uids := []string{}
	for _, value := range s.Objects {
		if value["apiVersion"] == nil {
			value["apiVersion"] = "v1"
		}
		text, _ := json.Marshal(value) // it was decoded from YAML
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(strings.NewReplacer(uids...).Replace(string(text))), o); err != nil {
			return nil, err
		}
		if err := c.createOne(ctx, s, o); err != nil {
			return nil, fmt.Errorf("%s: %q: %s %s: %w", s.file, s.Scenario, o.GetKind(), o.GetName(), err)
		}
		name, key := o.GetName(), o.GetName()
		if o.GetNamespace() != "" {
			name = o.GetNamespace() + "/" + name
		}
		if o.GetNamespace() != s.namespace {
			key = name
		}
		names[o.GetKind()+"/"+key] = o.GetKind() + " " + name
		uids = append(uids, "${uid:"+o.GetKind()+"/"+key+"}", string(o.GetUID()))
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
		if err := c.createNamespace(ctx, o.GetNamespace()); err != nil {
			return err
		}
		client = c.client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
	status, hasStatus := o.Object["status"]
	debuggers, hasDebuggers, _ := unstructured.NestedSlice(o.Object, "spec", "ephemeralContainers")
	if hasDebuggers {
		unstructured.RemoveNestedField(o.Object, "spec", "ephemeralContainers")
	}
	isDeleting := o.GetAnnotations()["deleting"] != ""
	var created *unstructured.Unstructured
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		created, err = client.Create(ctx, o, metav1.CreateOptions{})
		if isBehind(err) {
			return false, nil
		}
		return true, err
	})
	if apierrors.IsAlreadyExists(err) { // Kubernetes was faster: the default ServiceAccount
		text, _ := json.Marshal(o) // it was decoded from YAML
		created, err = client.Patch(ctx, o.GetName(), types.MergePatchType, text, metav1.PatchOptions{})
	}
	if err != nil {
		return err
	}
	o.SetUID(created.GetUID())
	if hasDebuggers {
		patch, _ := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": debuggers}}) // it was decoded from YAML
		if _, err := client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "ephemeralcontainers"); err != nil {
			return fmt.Errorf("its ephemeral containers: %w", err)
		}
	}
	if hasStatus {
		if _, err := client.Patch(ctx, o.GetName(), types.MergePatchType, statusPatch(status), metav1.PatchOptions{}, "status"); err != nil {
			return fmt.Errorf("its status: %w", err)
		}
	}
	if isDeleting {
		return client.Delete(ctx, o.GetName(), metav1.DeleteOptions{})
	}
	return nil
}

// isBehind reports whether admission did not see yet what was created a moment ago.
func isBehind(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "no PriorityClass with name")
}

// createNamespace creates a namespace, and waits for what Kubernetes puts into each.
func (c *cluster) createNamespace(ctx context.Context, name string) error {
	if c.namespaces[name] {
		return nil
	}
	c.namespaces[name] = true
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(name)
	_, err := c.client.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := c.client.Resource(accounts).Namespace(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
}

func statusPatch(status any) []byte {
	patch, _ := json.Marshal(map[string]any{"status": status}) // it was decoded from YAML
	return patch
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

func apps(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

var (
	namespaces = core("namespaces")
	accounts   = core("serviceaccounts")
)
