// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// needs is what rows need of other kinds than their own.
type needs struct {
	// sources may name objects, and reads must pass.
	sources, reads map[schema.GroupKind]bool
	// everywhere are kinds whose objects matter in all namespaces.
	everywhere map[schema.GroupKind]bool
	// selective are kinds whose rows select Pods.
	selective map[schema.GroupKind]bool
	// custom are the kinds of custom resources, which may select objects by their labels.
	custom map[schema.GroupKind]bool
}

func (f *Finder) needs() needs {
	n := needs{
		map[schema.GroupKind]bool{},
		map[schema.GroupKind]bool{},
		map[schema.GroupKind]bool{},
		map[schema.GroupKind]bool{},
		map[schema.GroupKind]bool{},
	}
	n.add(n.custom, f.Table.CustomKinds(), false)
	n.everywhere[cronJobs] = slices.ContainsFunc(f.rows, (*row).readsCommands)
	n.reads[namespaces] = f.readsMesh()
	f.needWatched(n)
	for _, r := range f.rows {
		// What is cluster-scoped may be used in any namespace.
		crosses := r.kind != anyKind && (r.crosses || !f.served[r.kind].Namespaced)
		n.add(n.sources, f.textsFor(r), crosses)
		if r.named {
			sources := uniqueKinds(f.Table.NamedBy(r.kind), f.textsFor(r))
			n.add(n.sources, sources, crosses)
			for _, source := range sources {
				n.everywhere[source] = n.everywhere[source] || f.Table.NamesElsewhere(source, r.kind)
			}
		}
		if r.pods {
			n.selective[r.kind] = true
			n.add(n.sources, f.Table.PodKinds(), crosses)
		}
		if r.cascades && f.wantsCascading(r) || r.typ == v1alpha1.FindingIdle {
			n.add(n.reads, scalers, crosses)
		}
		n.add(n.reads, f.mayMake(r), crosses)
		n.add(n.reads, mayBind(r), crosses)
		n.add(n.reads, mayGive(r), crosses)
		n.add(n.reads, r.reads, crosses)
		n.add(n.reads, f.waitersFor(r), crosses)
		n.add(n.reads, withoutCopies(f.waitersFor(r)), true) // a template of another namespace may wait for a Job
		n.add(n.reads, r.annotated(), true)                  // an annotation may name an object of another namespace
		n.add(n.sources, f.mayScale(r), crosses)
	}
	return n
}

// withoutCopies leaves out the kinds whose Pods and templates are copies of others, as a rule.
func withoutCopies(kinds []schema.GroupKind) []schema.GroupKind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k schema.GroupKind) bool { return k == pods || k == replicaSets })
}

// mayMake are the kinds whose objects may make Pods that the objects of a row select, or are mounted in, and the roles
// that let somebody make them.
func (f *Finder) mayMake(r *row) []schema.GroupKind {
	switch {
	case r.pods:
		return slices.Concat([]schema.GroupKind{roles}, f.Table.CustomKinds())
	case r.named && r.kind == claims:
		return f.Table.CustomKinds()
	}
	return nil
}

// mayBind are the kinds whose objects let somebody bind the roles of a row.
func mayBind(r *row) []schema.GroupKind {
	if r.isRole() {
		return []schema.GroupKind{roles, clusterRoles}
	}
	return nil
}

// mayGive are the kinds whose objects let somebody make Pods that the objects of a row select, or that use them.
func mayGive(r *row) []schema.GroupKind {
	if r.pods || r.isUsedByPods() {
		return bindingKinds
	}
	return nil
}

// mayScale are the kinds that may say of the objects of a row that they scale them up.
func (f *Finder) mayScale(r *row) []schema.GroupKind {
	if r.typ == v1alpha1.FindingIdle && r.actionable {
		return f.Table.CustomKinds()
	}
	return nil
}

// readsCommands reports whether the row reads the commands of CronJobs. They may scale workloads of other namespaces.
func (r *row) readsCommands() bool { return slices.Contains(r.reads, cronJobs) }

// add adds kinds to sources or reads. crosses says that their objects matter in all namespaces.
func (n needs) add(to map[schema.GroupKind]bool, kinds []schema.GroupKind, crosses bool) {
	for _, kind := range kinds {
		to[kind] = true
		n.everywhere[kind] = n.everywhere[kind] || crosses
	}
}

// wantsCascading reports whether somebody wants to know what only unused and idle objects use. Otherwise it makes no
// difference whether a user is idle.
func (f *Finder) wantsCascading(r *row) bool {
	return f.Wanted == nil || r.kind == anyKind || slices.Contains(f.Wanted, Want{r.kind, v1alpha1.FindingCascading})
}

// needWatched takes note of what may name the objects that are watched.
func (f *Finder) needWatched(n needs) {
	for _, name := range f.Watched {
		for _, kind := range f.Table.NamedBy(name.GroupKind) {
			n.sources[kind], n.everywhere[kind] = true, n.everywhere[kind] || name.Namespace == "" ||
				f.Table.NamesElsewhere(kind, name.GroupKind)
		}
	}
}

// plan says which lists the rows need.
func (f *Finder) plan() []List {
	n := f.needs()
	var lists []List
	for _, kind := range f.Served {
		gk := kind.GroupKind()
		whole, parts := f.wholeList(kind, n), f.partsOf(kind)
		lists = append(lists, parts...)
		needed := n.sources[gk] || n.reads[gk] || whole.counted || whole.texts
		for _, r := range f.rows {
			if f.isFor(gk, r, whole.counted) && !slices.ContainsFunc(parts, func(l List) bool { return l.isOf(r) }) {
				needed, whole.rows = true, append(whole.rows, r)
				whole.MetadataOnly = whole.MetadataOnly && !r.body
			}
		}
		if needed {
			whole.detailed = f.isDetailed(whole)
			lists = append(lists, whole)
			f.whole[gk] = !whole.forgotten
		}
	}
	slices.SortStableFunc(lists, func(a, b List) int {
		return cmp.Or(
			cmp.Compare(n.rank(a), n.rank(b)),
			cmp.Compare(a.Kind.Group, b.Kind.Group),
			cmp.Compare(a.Kind.Kind, b.Kind.Kind),
		)
	})
	return lists
}

// partsOf are the lists of a kind beside the one of all its objects.
func (f *Finder) partsOf(kind object.Kind) (lists []List) {
	for _, r := range f.rows {
		if r.kind != kind.GroupKind() {
			continue
		}
		if r.fields != "" {
			lists = append(lists, List{Kind: kind, Fields: r.fields, MetadataOnly: !r.body, rows: []*row{r}})
		}
		switch again := (List{Kind: kind, MetadataOnly: true, Again: true, forgotten: true}); {
		case !r.named:
		case r.kind == configMaps: // their names must have passed before the texts
			again.rows = []*row{r}
			lists = append(lists, again)
		case r.kind == secrets:
			again.Fields, again.unusual = usualTypes, true
			lists = append(lists, again)
		}
	}
	return lists
}

// isOf reports whether the list is read for a row.
func (l List) isOf(r *row) bool { return slices.Contains(l.rows, r) }

// rank orders lists: what selects others by their labels must pass before them, and what uses an object should pass
// before the object. Then it need not be kept.
func (n needs) rank(l List) int {
	switch {
	case l.texts: // what is looked for in them must have passed
		return 4
	case n.selective[l.Kind.GroupKind()], graph.ChoosesByLabels(l.Kind.GroupKind()), l.Kind.GroupKind() == nodes:
		return 0
	case l.Kind.GroupKind() == pods, l.source && n.custom[l.Kind.GroupKind()]:
		return 1
	case l.source:
		return 2
	}
	return 3
}

// wholeList is the list of all objects of a kind, as far as it is needed by rows of other kinds.
func (f *Finder) wholeList(kind object.Kind, n needs) List {
	gk := kind.GroupKind()
	counted := slices.ContainsFunc(f.rows, func(r *row) bool { return r.counts != nil && r.counts(kind) })
	noted := n.reads[gk] || n.sources[gk] && gk == volumes // they say what deleting a claim frees
	whole := List{
		Kind: kind, source: n.sources[gk], noted: noted && noteOf[gk] != nil, counted: counted,
		Everywhere: n.everywhere[gk] || counted, forgotten: f.forgets(gk),
		readers: f.showsReaders(gk, n),
		waiters: f.mayWait(gk), rights: f.showsRights(gk),
		binders: slices.ContainsFunc(f.rows, func(r *row) bool { return slices.Contains(mayBind(r), gk) }),
		texts:   gk == configMaps && slices.ContainsFunc(f.rows, (*row).mayStandInTexts),
	}
	whole.Everywhere = whole.Everywhere || whole.texts // which may name an object of another namespace
	whole.MetadataOnly = !f.needsBody(whole)
	return whole
}

// showsReaders reports whether objects of the kind show who may read what rows judge, or make Pods that use it.
func (f *Finder) showsReaders(kind schema.GroupKind, n needs) bool {
	forPods := func(r *row) bool { return r.pods }
	return (n.sources[kind] || n.reads[kind]) && f.mayRead(kind) && slices.ContainsFunc(f.rows, (*row).isUsedByPods) ||
		(isGiven(kind) || slices.Contains(ofRuns, kind)) && slices.ContainsFunc(f.rows, forPods)
}

// needsBody reports whether rows of other kinds need more of the objects of a list than their metadata.
func (f *Finder) needsBody(l List) bool {
	gk := l.Kind.GroupKind()
	forRows := l.texts || l.waiters || l.rights || l.readers || l.binders
	return forRows || l.source && f.Table.NeedsBody(gk) || l.noted && !slices.Contains(notedByMetadata, gk)
}

// forgets reports whether it is not kept which objects of the kind there are. There may be very many Pods, and few rows
// ask for one of them.
func (f *Finder) forgets(kind schema.GroupKind) bool {
	asks := func(r *row) bool { return slices.Contains(r.reads, pods) }
	return kind == pods && len(f.Watched) == 0 && !slices.ContainsFunc(f.rows, asks)
}

// isFor reports whether a row looks at objects of the kind. One for every kind looks at those that are wanted of it; if
// all are, then at kinds that have rows of their own or are read anyway.
func (f *Finder) isFor(kind schema.GroupKind, r *row, counted bool) bool {
	switch {
	case r.kind != anyKind:
		return r.kind == kind
	case f.Wanted != nil:
		return slices.Contains(f.Wanted, Want{kind, r.typ})
	}
	return counted || slices.ContainsFunc(rows, func(other *row) bool { return other.kind == kind })
}

// The kinds that several rows know.
var (
	pods                = schema.GroupKind{Kind: "Pod"}
	nodes               = schema.GroupKind{Kind: "Node"}
	secrets             = schema.GroupKind{Kind: "Secret"}
	configMaps          = schema.GroupKind{Kind: "ConfigMap"}
	claims              = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	volumes             = schema.GroupKind{Kind: "PersistentVolume"}
	accounts            = schema.GroupKind{Kind: "ServiceAccount"}
	services            = schema.GroupKind{Kind: "Service"}
	namespaces          = schema.GroupKind{Kind: "Namespace"}
	endpointSlices      = schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}
	deployments         = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	statefulSets        = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSets          = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	replicaSets         = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	controllers         = schema.GroupKind{Kind: "ReplicationController"}
	jobs                = schema.GroupKind{Group: "batch", Kind: "Job"}
	cronJobs            = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	roles               = schema.GroupKind{Group: rbacv1.GroupName, Kind: "Role"}
	clusterRoles        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRole"}
	roleBindings        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "RoleBinding"}
	clusterRoleBindings = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}
	snapshotClasses     = schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}
	ingressClasses      = schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}
	priorityClasses     = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	runtimeClasses      = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	autoscalers         = schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
)
