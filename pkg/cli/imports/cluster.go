// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// asSource is an object of the cluster as YAML, as kubectl get -o yaml shows it. Lines of messages are its lines.
func asSource(o *unstructured.Unstructured) (manifest.Source, error) {
	o.SetManagedFields(nil)
	text, err := yaml.Marshal(o.Object)
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return manifest.Source{Name: strings.ToLower(o.GetKind()) + "/" + name, Text: text}, err
}

// listAll reads all objects below a path. What the cluster does not serve has none.
func listAll(ctx context.Context, api *cluster.Client, path string, each func(*unstructured.Unstructured) error) error {
	var failed error
	err := cluster.List[unstructured.UnstructuredList](ctx, api, path, func(o *unstructured.Unstructured) {
		if failed == nil {
			failed = each(o)
		}
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return cluster.RequestError("reading "+path, err)
	}
	return failed
}

func (j *job) listCleaners(ctx context.Context, api *cluster.Client) (all []manifest.Source, err error) {
	err = listAll(ctx, api, cluster.CleanerPath(""), func(o *unstructured.Unstructured) error {
		found, err := asSource(o)
		all = append(all, found)
		return err
	})
	return all, err
}

// policyKinds are the kinds of Kyverno's policies that delete, by group.
var policyKinds = map[string][]string{
	"kyverno.io":  {"cleanuppolicies", "clustercleanuppolicies"},
	deletingGroup: {"deletingpolicies", "namespaceddeletingpolicies"},
}

// listPolicies reads them, and the exceptions to them, in the version that the cluster prefers, and the objects with
// Kyverno's label.
func (j *job) listPolicies(ctx context.Context, api *cluster.Client) (all []manifest.Source, err error) {
	for _, group := range []string{"kyverno.io", deletingGroup} {
		var served metav1.APIGroup
		err := api.Read(ctx, "/apis/"+group, &served)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, cluster.RequestError("reading the versions of "+group, err)
		}
		found, err := listGroup(ctx, api, &served)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		filters, err := j.listFilters(ctx, api)
		if err != nil {
			return nil, err
		}
		all = append(all, filters...)
	}
	labelled, err := j.listLabelled(ctx, api)
	return append(all, labelled...), err
}

// listGroup reads the policies of a group, and the exceptions where there are policies that heed them.
func listGroup(ctx context.Context, api *cluster.Client, group *metav1.APIGroup) (all []manifest.Source, err error) {
	for _, plural := range policyKinds[group.Name] {
		found, err := listServed(ctx, api, group, plural)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if group.Name != deletingGroup || len(all) == 0 {
		return all, nil
	}
	exceptions, err := listServed(ctx, api, group, "policyexceptions")
	return append(all, exceptions...), err
}

// listServed reads a kind in the first version of its group that has it: the versions of a group may have different
// kinds.
func listServed(
	ctx context.Context,
	api *cluster.Client,
	group *metav1.APIGroup,
	plural string,
) (all []manifest.Source, err error) {
	for _, version := range group.Versions {
		var has metav1.APIResourceList
		if err := api.Read(ctx, "/apis/"+version.GroupVersion, &has); err != nil {
			return nil, cluster.RequestError("reading the kinds of "+version.GroupVersion, err)
		}
		for _, resource := range has.APIResources {
			if resource.Name != plural {
				continue
			}
			err := listAll(ctx, api, "/apis/"+version.GroupVersion+"/"+plural, func(o *unstructured.Unstructured) error {
				found, err := asSource(o)
				all = append(all, found)
				return err
			})
			return all, err
		}
	}
	return nil, nil
}

// listJanitors reads the workloads that run kube-janitor, and the ConfigMaps that they mount. Where there are none, it
// reads those that speak of kube-janitor.
func (j *job) listJanitors(ctx context.Context, api *cluster.Client) (all []manifest.Source, err error) {
	var others []manifest.Source
	for _, path := range []string{"/apis/apps/v1/deployments", "/apis/batch/v1/cronjobs"} {
		err := listAll(ctx, api, path, func(o *unstructured.Unstructured) error {
			raw, err := json.Marshal(o.Object)
			if err != nil || !strings.Contains(string(raw), janitorName) {
				return err
			}
			found, err := asSource(o)
			if err != nil {
				return err
			}
			into := &others
			if docs, _ := found.Documents(); len(docs) == 1 {
				if janitors, _ := janitorsIn(docs[0]); len(janitors) > 0 {
					into = &all
				}
			}
			mounted, err := listMounted(ctx, api, o)
			*into = append(append(*into, found), mounted...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 && len(others) > 0 {
		j.lostAll("no Deployment and no CronJob in the cluster is recognised as kube-janitor",
			"give its manifest and its rules as files")
		return others, nil
	}
	return all, nil
}

func listMounted(
	ctx context.Context,
	api *cluster.Client,
	o *unstructured.Unstructured,
) (all []manifest.Source, err error) {
	template := []string{"spec", "template"}
	if o.GetKind() == "CronJob" {
		template = []string{"spec", "jobTemplate", "spec", "template"}
	}
	volumes, _, _ := unstructured.NestedSlice(o.Object, append(template, "spec", "volumes")...)
	for _, volume := range volumes {
		fields, _ := volume.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "configMap", "name")
		if name == "" {
			continue
		}
		var mounted unstructured.Unstructured
		path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", o.GetNamespace(), name)
		if err := api.Read(ctx, path, &mounted); err != nil {
			return nil, terminal.Fail(
				codes.ClusterFailed,
				fmt.Errorf("reading ConfigMap %s/%s, which %s %s mounts: %w", o.GetNamespace(), name,
					o.GetKind(), o.GetName(), err),
				"",
			)
		}
		found, err := asSource(&mounted)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}
