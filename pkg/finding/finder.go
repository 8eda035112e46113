// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Want is what somebody wants to know: the findings of one type of one kind.
type Want struct {
	Kind schema.GroupKind
	Type v1alpha1.FindingType
}

// Options say what a Finder has to go by.
type Options struct {
	// Table says what can name what: what we know, what was learned from the cluster's schemas, and what its users
	// declared.
	Table *graph.Table
	// Served are the kinds that the API server serves, each in one version.
	Served []object.Kind
	// Unserved are the groups whose kinds the API server could not list.
	Unserved map[string]error
	// Wanted are the findings to look for. Nil looks for all.
	Wanted []Want
	// WithUsers also judges whatever may be unused or idle: without that, only users of the wanted kinds and types can
	// make something Cascading.
	WithUsers bool
	// Now is what ages are measured from.
	Now time.Time
	// Namespace is the only one whose objects are judged, where not all were read. Empty for all.
	Namespace string
	// OnlyOf is the one namespace of which there are objects, where what other namespaces hold is not known. Each list is
	// then also passed to UnreadElsewhere.
	OnlyOf string
	// Include says which objects may be reported. The others are judged, and count as users, all the same. Nil for all.
	Include func(object.Object) bool
	// Watched are objects of which all references are kept, as evidence: what can name them is read in any case.
	Watched []graph.Name
	// EachDialect also reports objects whose time is over by the marks of one dialect, and not by those of another.
	// Whoever asks for some dialects narrows them with Finding.Expired.
	EachDialect bool
}

// List is one list that a Finder needs.
type List struct {
	Kind object.Kind
	// Fields is a field selector. Empty for all objects.
	Fields string
	// MetadataOnly is true when the metadata of the objects is enough.
	MetadataOnly bool
	// Everywhere is true when the objects of all namespaces are needed, also where only the findings of one namespace are
	// wanted: they may name objects of other namespaces.
	Everywhere bool
	// Again is true when the objects pass in another list, too.
	Again bool
	// source is true when the objects may name others, noted when other rows keep something of them, and counted when it
	// matters that there are any.
	source, noted, counted bool
	// forgotten is true when nobody asks whether one of the objects exists.
	forgotten bool
	// texts is true when names may stand in their data.
	texts bool
	// readers is true when they may read others through the API, and waiters when their Pods may wait for a Job.
	readers, waiters bool
	// unusual is true when they are the Secrets of unusual types.
	unusual bool
	// rights is true when they show who has a right that matters.
	rights bool
	// binders is true when they show who may make bindings.
	binders bool
	// detailed is true when they explain what is found, and extra when they are read for nothing else.
	detailed, extra bool
	// rows are what is looked for among them.
	rows []*row
}

// Finder looks at objects, and finds. It is for one goroutine.
type Finder struct {
	Options
	graph *graph.Graph
	rows  []*row
	lists []List
	// elsewhere is why objects of a kind could be read in the one namespace only.
	elsewhere map[schema.GroupKind]error
	// whole are the kinds of which all objects pass, of the namespaces that are looked at, and are remembered.
	whole map[schema.GroupKind]bool
	// served are the kinds by group and kind; unread why objects of a kind could not be read.
	served     map[schema.GroupKind]object.Kind
	unread     map[schema.GroupKind]error
	candidates map[types.UID][]*candidate
	// searches are where users were looked for. It is made when all lists were read.
	searches map[*row]*search
	// parts are those of the object that is looked at. Nobody keeps them.
	parts object.Parts
	// kind is that of the last candidate, for those that follow it.
	kind *object.Kind
	// said are the findings that candidates share.
	said map[sameness]*Finding
	// judged is the finding that judgeUse made last: there may be very many.
	judged Finding
	bytes  int64
	notes
	details
	texts
	readers
	bound
	rights
	binders
	projects
}

// New returns a Finder.
func New(options Options) *Finder {
	f := &Finder{
		Options: options, served: map[schema.GroupKind]object.Kind{}, unread: map[schema.GroupKind]error{},
		elsewhere: map[schema.GroupKind]error{}, whole: map[schema.GroupKind]bool{},
		candidates: map[types.UID][]*candidate{}, said: map[sameness]*Finding{}, notes: newNotes(), details: newDetails(),
		readers: newReaders(), bound: newBound(), rights: newRights(), binders: binders{},
	}
	clusterScoped := map[schema.GroupKind]bool{}
	for _, kind := range options.Served {
		f.served[kind.GroupKind()] = kind
		clusterScoped[kind.GroupKind()] = !kind.Namespaced
	}
	f.graph = graph.New(options.Table, clusterScoped)
	f.graph.MentionsOf(options.Namespace)
	for _, name := range options.Watched {
		f.graph.Watch(name)
	}
	for _, r := range rows {
		if kind, served := f.served[r.kind]; f.Namespace != "" && served && !kind.Namespaced {
			continue // one namespace does not show who uses it
		}
		if f.wants(r) {
			f.rows = append(f.rows, r)
		}
	}
	f.projects = f.newProjects()
	f.lists = f.plan()
	return f
}

func (f *Finder) wants(r *row) bool {
	if f.WithUsers && (r.typ == v1alpha1.FindingUnused || r.typ == v1alpha1.FindingIdle) {
		return true
	}
	return f.Wanted == nil || slices.ContainsFunc(f.Wanted, func(w Want) bool {
		switch {
		case w.Kind != r.kind && r.kind != anyKind:
			return false
		case w.Type == v1alpha1.FindingDangling && r.typ == v1alpha1.FindingUnused:
			// what leads nowhere at all is that instead
			return true
		}
		return w.Type == r.typ || w.Type == v1alpha1.FindingCascading && r.cascades
	})
}

// Lists are the lists to read, in their order: what selects others by labels comes before these, and texts come after
// what is looked for in them. The rest of the order saves memory.
func (f *Finder) Lists() []List { return f.lists }

// Graph is what the objects that passed name.
func (f *Finder) Graph() *graph.Graph { return f.graph }

// Bytes is about how much memory the Finder takes.
func (f *Finder) Bytes() int64 { return f.graph.Bytes() + f.bytes + f.notes.bytes }

// UnreadElsewhere takes note that of a list that is needed everywhere only the objects of the one namespace could be
// read.
func (f *Finder) UnreadElsewhere(list List, err error) {
	f.elsewhere[list.Kind.GroupKind()] = err
}

// Look looks at one object of a list. Its bytes are not kept.
func (f *Finder) Look(list List, object object.Object) {
	f.parts.Find(object)
	o := &f.parts
	f.noteObject(list, o)
	if f.Namespace != "" && o.Namespace != f.Namespace {
		return // not all that could use it is read
	}
	for _, r := range list.rows {
		if c := r.look(f, o); c != nil && !exempt(r, o) {
			f.keep(r, o, c)
		}
	}
}

// noteObject takes note of what an object says of other objects.
func (f *Finder) noteObject(list List, o *object.Parts) {
	if !list.forgotten {
		f.graph.Saw(o.Object)
		f.graph.AddAnnotations(o)
	}
	if list.source {
		f.graph.Add(o)
	}
	if list.readers {
		f.noteReader(o)
	}
	if list.waiters {
		f.waits(o)
	}
	f.noteAccess(list, o)
	if list.counted {
		f.count(o)
	}
	if list.noted {
		noteOf[list.Kind.GroupKind()](&f.notes, o)
	}
	if list.texts {
		f.readTexts(o)
	}
	if list.unusual {
		f.unusual[types.UID(string(o.UID))] = true
		f.bytes += 64
	}
	if list.detailed {
		f.detail(o)
	}
}

// noteAccess takes note of who may do something that matters.
func (f *Finder) noteAccess(list List, o *object.Parts) {
	if list.rights {
		f.noteRight(o)
	}
	if list.binders {
		f.noteBinder(o)
	}
}

// keep keeps a candidate. An object may pass twice, when a list had to begin anew.
func (f *Finder) keep(r *row, o *object.Parts, c *candidate) {
	c.row = r
	if f.kind == nil || *f.kind != o.Kind {
		kind := o.Kind
		f.kind = &kind
	}
	c.kind, c.uid, c.created = f.kind, types.UID(string(o.UID)), o.Created
	c.namespace, c.name = unique.Make(o.Namespace).Value(), strings.Clone(o.Name)
	c.managed, c.protected = f.managedBy(o), protected(r, o)
	if c.found != nil {
		c.found.Type = r.typ
	}
	c.reported = isReported(o)
	c.excluded = f.Include != nil && !f.Include(o.Object)
	known := f.candidates[o.UID]
	if i := slices.IndexFunc(known, func(k *candidate) bool { return k.row == r }); i >= 0 {
		known[i] = c
		return
	}
	f.candidates[c.uid] = append(known, c)
	f.bytes += int64(640 + len(o.Namespace) + len(o.Name) + 192*len(c.names) + len(c.mayUse) + len(c.managed))
	for _, mark := range c.marks {
		f.bytes += int64(16 + len(mark))
	}
	if c.found != nil {
		f.bytes += int64(len(c.found.Reason) + 128*len(c.found.Marks))
	}
}
