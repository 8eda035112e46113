// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	pods         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	claims       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	replicaSets  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	jobs         = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	allWorkloads = []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apps", Version: "v1", Kind: "StatefulSet"},
		{Group: "apps", Version: "v1", Kind: "DaemonSet"},
		{Group: "batch", Version: "v1", Kind: "CronJob"},
		replicaSets, jobs, pods, claims,
	}
)

// dependents are what the owners that are part of Kubernetes own, directly or not. A Pod owns the claims of its
// ephemeral volumes.
var dependents = map[schema.GroupKind][]schema.GroupVersionKind{
	{Kind: "Pod"}:                        {claims},
	{Kind: "ReplicationController"}:      {pods, claims},
	{Kind: "Node"}:                       allWorkloads,
	{Group: "apps", Kind: "DaemonSet"}:   {pods, claims},
	{Group: "apps", Kind: "Deployment"}:  {replicaSets, pods, claims},
	{Group: "apps", Kind: "ReplicaSet"}:  {pods, claims},
	{Group: "apps", Kind: "StatefulSet"}: {pods, claims},
	{Group: "batch", Kind: "CronJob"}:    {jobs, pods, claims},
	{Group: "batch", Kind: "Job"}:        {pods, claims},
}

// builtIn are the groups that are part of Kubernetes. Their other kinds, such as ConfigMap, own no workloads. Custom
// resources may.
var builtIn = []string{
	"",
	"admissionregistration.k8s.io",
	"apiextensions.k8s.io",
	"apiregistration.k8s.io",
	"apps",
	"autoscaling",
	"batch",
	"certificates.k8s.io",
	"coordination.k8s.io",
	"discovery.k8s.io",
	"events.k8s.io",
	"flowcontrol.apiserver.k8s.io",
	"networking.k8s.io",
	"node.k8s.io",
	"policy",
	"rbac.authorization.k8s.io",
	"resource.k8s.io",
	"scheduling.k8s.io",
	"storage.k8s.io",
}

// Dependents are the kinds of objects that a Delete with these options may delete together with an object of the kind,
// because that owns them.
func Dependents(kind schema.GroupKind, options *v1alpha1.DeleteOptions) []schema.GroupVersionKind {
	kinds, known := dependents[kind]
	switch {
	case orphans(kind, options):
		return nil
	case known || slices.Contains(builtIn, kind.Group):
		return kinds
	}
	return allWorkloads
}

// orphans reports whether a Delete leaves what an object of the kind owns. Without a policy the API server does so for
// two kinds, for the sake of old clients. The Pods of a Node go with it, whatever the policy.
func orphans(kind schema.GroupKind, options *v1alpha1.DeleteOptions) bool {
	if kind == (schema.GroupKind{Kind: "Node"}) {
		return false
	}
	if options != nil && options.PropagationPolicy != nil {
		return *options.PropagationPolicy == metav1.DeletePropagationOrphan
	}
	return kind == jobs.GroupKind() || kind == schema.GroupKind{Kind: "ReplicationController"}
}

// Cascade finds the objects that a Delete must leave alone, and that it would delete together with those that it has
// chosen: Add them all, look where it says, and give it what was Found. The zero Cascade has nothing to look for.
type Cascade struct {
	// Unjudged are the UIDs of objects that could not be judged.
	Unjudged map[types.UID]bool
	// Kinds are the kinds of dependents to look through, each once.
	Kinds []schema.GroupVersionKind
	// Cluster is true when an owner is cluster-scoped: its dependents may be anywhere. Spreads is true when it is a custom
	// resource: then they must not be in a namespace that is protected either.
	Cluster, Spreads bool

	// namespaces are those that are to be deleted, ownersIn those that have owners, and owners are by UID. The values of
	// the first and the last say which object goes with them, and why it must not.
	namespaces map[string]string
	ownersIn   map[string]bool
	owners     map[types.UID]string
	// nodes are the UIDs of the Nodes that are to be deleted, by name. The Pods of a Node go with it, although it does not
	// own them.
	nodes map[string]types.UID
}

// Add adds an object that a Delete with these options has chosen. One without its bytes is taken to own all that its
// kind may.
func (c *Cascade) Add(o object.Object, options *v1alpha1.DeleteOptions) {
	if IsNamespace(o.Kind.Group, o.Kind.Kind) {
		c.addNamespace(o.Name)
		return
	}
	kinds := Dependents(o.Kind.GroupKind(), options)
	if o.Kind.GroupKind() == pods.GroupKind() && len(o.Raw) > 0 && !hasEphemeralVolumes(o) {
		kinds = nil
	}
	// Anything may own what could not be judged.
	if len(kinds) == 0 && (len(c.Unjudged) == 0 || orphans(o.Kind.GroupKind(), options)) {
		return
	}
	if c.owners == nil {
		c.owners, c.ownersIn = map[types.UID]string{}, map[string]bool{}
	}
	c.owners[o.UID] = ""
	c.ownersIn[o.Namespace] = true
	if o.Namespace == "" {
		c.Cluster, c.Spreads = true, c.Spreads || !slices.Contains(builtIn, o.Kind.Group)
	}
	c.addNode(o)
	c.LookFor(kinds...)
}

func (c *Cascade) addNamespace(name string) {
	if c.namespaces == nil {
		c.namespaces = map[string]string{}
	}
	c.namespaces[name] = ""
}

func (c *Cascade) addNode(o object.Object) {
	if o.Kind.Group != "" || o.Kind.Kind != "Node" {
		return
	}
	if c.nodes == nil {
		c.nodes = map[string]types.UID{}
	}
	c.nodes[o.Name] = o.UID
}

// LookFor adds kinds to look through if there is an owner at all.
func (c *Cascade) LookFor(kinds ...schema.GroupVersionKind) {
	for _, kind := range kinds {
		if len(c.owners) > 0 && !slices.Contains(c.Kinds, kind) {
			c.Kinds = append(c.Kinds, kind)
		}
	}
}

func hasEphemeralVolumes(pod object.Object) bool {
	for volume := range object.JSON(pod.Raw).At("spec", "volumes").Elements() {
		if volume.Field("ephemeral").Type() == object.Map {
			return true
		}
	}
	return false
}

// cascadeSize is about what an owner or a namespace takes, with what is found.
const cascadeSize = 200

// Size is about how many bytes it takes: none if there is nothing to look for, or no Cascade.
func (c *Cascade) Size() int {
	if c == nil {
		return 0
	}
	return cascadeSize * (len(c.namespaces) + len(c.owners) + len(c.nodes))
}

// Namespaces are those to look through, with all the kinds that they hold.
func (c *Cascade) Namespaces() []string { return sortedKeys(c.namespaces) }

// OwnersIn are the namespaces in which to look for dependents, unless Cluster is true.
func (c *Cascade) OwnersIn() []string { return sortedKeys(c.ownersIn) }

// Nodes are those whose Pods to look through: their UIDs, by name.
func (c *Cascade) Nodes() map[string]types.UID { return c.nodes }

// Found takes an object that must stay, why it must, and the UIDs of all that own it, directly or not.
func (c *Cascade) Found(o object.Object, why string, owners []types.UID) {
	found := fmt.Sprintf("%s would be deleted with it, and %s", o, why)
	if before, chosen := c.namespaces[o.Namespace]; chosen && before == "" {
		c.namespaces[o.Namespace] = found
	}
	for _, owner := range owners {
		if before, chosen := c.owners[owner]; chosen && before == "" {
			c.owners[owner] = found
		}
	}
}

// FoundIn takes an object in a namespace that is protected, why that is, and the UIDs of all that own the object. Some
// Pods of each Node are in one: they do not hold it.
func (c *Cascade) FoundIn(o object.Object, why string, owners []types.UID) {
	for _, node := range c.nodes {
		owners = slices.DeleteFunc(owners, func(owner types.UID) bool { return owner == node })
	}
	c.Found(o, why, owners)
}

// Anew is the Cascade of the same objects before anything was found.
func (c *Cascade) Anew() *Cascade {
	anew := *c
	anew.namespaces, anew.owners = maps.Clone(c.namespaces), maps.Clone(c.owners)
	for name := range anew.namespaces {
		anew.namespaces[name] = ""
	}
	for uid := range anew.owners {
		anew.owners[uid] = ""
	}
	return &anew
}

// Reason says why an object that the Delete has chosen must stay, or is empty. Of no Cascade it is empty.
func (c *Cascade) Reason(o object.Object) string {
	if c == nil {
		return ""
	}
	if IsNamespace(o.Kind.Group, o.Kind.Kind) {
		return c.namespaces[o.Name]
	}
	return c.owners[o.UID]
}

// Stays says why an object must not be deleted together with others. It is empty when it may, or is being deleted
// already. It is for very many objects: only annotations are looked for.
func (c *Cascade) Stays(o object.Object) string {
	if o.Deleting {
		return ""
	}
	annotations := object.JSON(o.Raw).At("metadata", "annotations")
	protects := annotations.At(v1alpha1.ProtectAnnotation)
	switch {
	case protects.Type() != object.Absent && protects.Text() != unprotected:
		return "is annotated " + v1alpha1.ProtectAnnotation
	case annotations.At(v1alpha1.RestoredFromAnnotation).Text() != "" && !isOfDeployment(o):
		return "is annotated " + v1alpha1.RestoredFromAnnotation
	case c.Unjudged[o.UID]:
		return "could not be judged"
	}
	return ""
}

// isOfDeployment reports whether an object is the ReplicaSet of a Deployment. The Deployment controller copies the
// annotations of a restored Deployment to it, and does not remove them there when a person removes them.
func isOfDeployment(o object.Object) bool {
	if o.Kind.Kind != "ReplicaSet" {
		return false
	}
	for owner := range object.JSON(o.Raw).At("metadata", "ownerReferences").Elements() {
		if owner.Field("kind").Text() == "Deployment" {
			return true
		}
	}
	return false
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
