// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	storageClasses = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	drivers        = schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIDriver"}
)

// defaultClass are the annotations of the class that is taken where none is named.
var defaultClass = []string{
	"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
	"snapshot.storage.kubernetes.io/is-default-class", "ingressclass.kubernetes.io/is-default-class",
	"storageclass.kubevirt.io/is-default-virt-class", "k10.kasten.io/is-snapshot-class",
}

func classRows() (all []*row) {
	for _, kind := range []schema.GroupKind{storageClasses, snapshotClasses, ingressClasses} {
		class := namedRow(kind)
		class.means = "nothing names it, and it is not the default class"
		class.look = lookClass
		switch kind {
		case storageClasses:
			class.body, class.look, class.judge = true, lookStorageClass, judgeStorageClass
		case snapshotClasses:
			class.body, class.look, class.judge = true, lookSnapshotClass, judgeSnapshotClass
		}
		all = append(all, class)
	}
	return all
}

func lookClass(f *Finder, o *object.Parts) *candidate {
	if slices.ContainsFunc(defaultClass, func(mark string) bool { return annotation(o, mark) == "true" }) {
		return nil
	}
	return lookUnlessLive(f, o)
}

// lookStorageClass takes note of the driver that may be its provisioner. Those of Kubernetes itself have none.
func lookStorageClass(f *Finder, o *object.Parts) *candidate {
	c := lookClass(f, o)
	provisioner := o.At("provisioner").Text()
	if c != nil && provisioner != "" && !strings.HasPrefix(provisioner, "kubernetes.io/") {
		f.explain(drivers)
		c.names = []graph.User{{Name: graph.Name{GroupKind: drivers, Name: provisioner}}}
	}
	return c
}

// judgeStorageClass says of a class that nothing names whether its provisioner is a driver that is there. That it is
// none proves nothing: there are provisioners without a CSIDriver.
func judgeStorageClass(f *Finder, c *candidate) *Finding {
	found := judgeNamed(f, c)
	if found == nil || found.Type != v1alpha1.FindingUnused || len(found.Unknown) > 0 || len(f.lacking(drivers)) > 0 {
		return found
	}
	for _, driver := range c.names {
		if !f.graph.IsPresent(driver.Name) {
			found.Reason += "; there is no CSIDriver with the name of its provisioner " + driver.Name.Name +
				", but some provisioners have none"
		}
	}
	return found
}

// lookSnapshotClass takes note of the driver of each class: what makes snapshots may look for a class of that.
func lookSnapshotClass(f *Finder, o *object.Parts) *candidate {
	driver := o.At("driver").Text()
	if f.snapshotters[driver] == nil {
		f.snapshotters[driver] = map[string]bool{}
	}
	f.snapshotters[driver][strings.Clone(o.Name)] = true
	f.bytes += int64(96 + len(driver) + len(o.Name))
	c := lookClass(f, o)
	if c != nil {
		c.names = []graph.User{{Name: graph.Name{GroupKind: drivers, Name: driver}}}
	}
	return c
}

// judgeSnapshotClass doubts that a class is unused which is the only one of its driver, or which Velero may take.
func judgeSnapshotClass(f *Finder, c *candidate) *Finding {
	found := judgeNamed(f, c)
	if found == nil || found.Type != v1alpha1.FindingUnused || c.reported ||
		found.Confidence != v1alpha1.ConfidenceLikely {
		return found
	}
	driver := c.names[0].Name.Name
	isVelero := func(kind object.Kind) bool { return kind.Group == velero }
	switch {
	case slices.ContainsFunc(f.Served, isVelero), f.Unserved[velero] != nil:
		found.Reason += ", but Velero may choose it by its driver " + driver
	case len(f.snapshotters[driver]) == 1:
		found.Reason += ", but it is the only class of its driver " + driver +
			", and software that makes snapshots may choose it by the driver"
	default:
		return found
	}
	found.Confidence = v1alpha1.ConfidenceWeak
	return found
}

const velero = "velero.io"
