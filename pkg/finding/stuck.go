// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// stuckFor is how long a deletion may take.
const stuckFor = 10 * time.Minute

// ownFinalizers are those of Kubernetes itself, and what they wait for. The garbage collector's wait for other objects, which are stuck themselves.
var ownFinalizers = map[string]string{
	"foregroundDeletion":           "",
	"orphan":                       "",
	"kubernetes.io/pvc-protection": "a Pod still uses the claim",
	"kubernetes.io/pv-protection":  "a claim is still bound to the volume",
	"kubernetes":                   "objects of the namespace are not gone yet",
	"service.kubernetes.io/load-balancer-cleanup": "the cloud's controller deletes the load balancer",
	"batch.kubernetes.io/job-tracking":            "the Job controller counts the Pod",
	"customresourcecleanup.apiextensions.k8s.io":  "objects of the kind are not gone yet",
}

// lookStuck looks at what is being deleted. A Pod is to be gone when its grace period is over, which is part of the time that it bears.
func lookStuck(f *Finder, o object.Object) *candidate {
	if !o.Deleting {
		return nil
	}
	since := timeAt(metadata(o).Field("deletionTimestamp"))
	if f.Now.Sub(since) < stuckFor {
		return nil
	}
	finalizer := ""
	for value := range metadata(o).Field("finalizers").Elements() {
		if waits, own := ownFinalizers[value.Text()]; finalizer == "" && (!own || waits != "") {
			finalizer = value.Text()
		}
	}
	switch o.Kind.GroupKind() {
	case namespaces:
		if finalizer == "" {
			finalizer = "kubernetes" // it stands in the spec
		}
	case pods:
		if node := raw(o).At("spec", "nodeName").Text(); finalizer == "" && node != "" {
			return certain("its grace period is over, and the kubelet of Node "+node+" does not say that it ended", since)
		}
	}
	if finalizer == "" {
		return nil
	}
	reason := fmt.Sprintf("finalizer %s is left: %s", finalizer, f.ownerOf(finalizer))
	if remaining := conditionOf(o, "NamespaceContentRemaining"); remaining.Field("status").Text() == "True" {
		reason += "; " + remaining.Field("message").Text()
	}
	return certain(reason, since)
}

// ownerOf says whose finalizer it is, by its domain.
func (f *Finder) ownerOf(finalizer string) string {
	if waits := ownFinalizers[finalizer]; waits != "" {
		return waits
	}
	domain, _, found := strings.Cut(finalizer, "/")
	if !found {
		// The older form: the name, a dot and the domain.
		if _, after, dotted := strings.Cut(finalizer, "."); dotted {
			domain = after
		}
	}
	groups := map[string]bool{}
	for _, kind := range f.Served {
		if kind.Group != "" && (isBelow(domain, kind.Group) || isBelow(kind.Group, domain)) {
			groups[kind.Group] = true
		}
	}
	switch {
	case len(groups) == 0 && !strings.Contains(domain, "."):
		return "nobody can tell whose it is"
	case len(groups) == 0:
		return "it is of " + domain + ", of which the cluster serves no kind; its controller may be gone"
	}
	return "the controller of " + domain + " removes it; see whether that runs"
}

// isBelow reports whether a domain is part of another.
func isBelow(domain, of string) bool {
	return domain == of || strings.HasSuffix(domain, "."+of)
}

// needsBody reports whether the row needs more than the metadata of a kind's objects. What keeps a Pod or a Namespace, they do not say in that.
func (r *row) needsBody(kind schema.GroupKind) bool {
	return r.body || r.typ == v1alpha1.FindingStuck && (kind == pods || kind == namespaces)
}
