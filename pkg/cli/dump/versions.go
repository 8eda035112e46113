// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// replaced are versions that no supported Kubernetes serves, and of which a kind that is looked at has other fields in
// the version that came after it. A star is all kinds of the group.
var replaced = map[schema.GroupVersion]string{
	{Group: "extensions", Version: "v1beta1"}:        "*",
	{Group: "networking.k8s.io", Version: "v1beta1"}: "Ingress",
	{Group: "policy", Version: "v1beta1"}:            "PodDisruptionBudget",
}

// checkVersion refuses a manifest that would have to be translated.
func checkVersion(m *entry) error {
	if kinds := replaced[m.gvk.GroupVersion()]; kinds == "" || kinds != "*" && kinds != m.gvk.Kind {
		return nil
	}
	return terminal.Fail(
		codes.DumpWrong,
		fmt.Errorf("%s: %s is of version %s, which Kubernetes does not serve any more", m.where, m, m.gvk.GroupVersion()),
		"convert it with kubectl convert (a plugin of kubectl), or write what kubectl get prints",
	)
}

// share gives the objects of a kind to each version of it that is served, as an API server does: whoever lists one
// version gets all objects. The fields stay as they are.
func (d *Cluster) share() error {
	versions := map[schema.GroupKind][]*servedKind{}
	for _, gv := range sortedGroupVersions(d.served) {
		for _, kind := range d.served[gv] {
			versions[kind.GroupKind()] = append(versions[kind.GroupKind()], kind)
		}
	}
	for _, kinds := range versions {
		if len(kinds) == 1 {
			continue
		}
		var all []*entry
		for _, kind := range kinds {
			all = append(all, kind.objects...)
		}
		for _, kind := range kinds {
			if err := kind.take(all); err != nil {
				return err
			}
		}
	}
	return nil
}

// take adds the objects of other versions that the kind does not have.
func (k *servedKind) take(all []*entry) error {
	has := map[identity]bool{}
	for _, m := range k.objects {
		has[m.identity()] = true
	}
	for _, m := range all {
		id := m.identity()
		if has[id] {
			continue
		}
		has[id] = true
		converted := *m
		converted.gvk.Version = k.Version
		var err error
		converted.raw, err = edited(m.raw, func(value map[string]any) {
			value["apiVersion"] = converted.gvk.GroupVersion().String()
		})
		if err != nil {
			return terminal.Fail(codes.DumpWrong, fmt.Errorf("%s: %s: %w", m.where, m, err), "")
		}
		k.objects = append(k.objects, &converted)
	}
	return nil
}
