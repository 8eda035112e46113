// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
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
	// Unserved are the groups whose kinds the API server could not tell.
	Unserved map[string]error
	// Wanted are the findings to look for. Nil looks for all.
	Wanted []Want
	// Now is what ages are measured from.
	Now time.Time
	// Namespace is the only one whose objects are judged, where not all were read. Empty for all.
	Namespace string
	// Include says which objects may be told of. The others are judged, and count as users, all the same. Nil for all.
	Include func(object.Object) bool
	// Watched are objects of which all references are kept, as evidence: what can name them is read in any case.
	Watched []graph.Name
	// EachDialect also tells of objects whose time is over by the marks of one dialect, and not by those of another.
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
	// source is true when the objects may name others, noted when other rows keep something of them, and counted when it
	// matters that there are any.
	source, noted, counted bool
	// forgotten is true when nobody asks whether one of the objects exists.
	forgotten bool
	// texts is true when names may stand in their data.
	texts bool
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
	// judged is the finding that judgeUse made last: there may be very many.
	judged Finding
	bytes  int64
	notes
	details
	texts
}

// New returns a Finder.
func New(options Options) *Finder {
	f := &Finder{
		Options: options, served: map[schema.GroupKind]object.Kind{}, unread: map[schema.GroupKind]error{},
		elsewhere: map[schema.GroupKind]error{}, whole: map[schema.GroupKind]bool{},
		candidates: map[types.UID][]*candidate{}, notes: newNotes(), details: newDetails(),
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
	f.lists = f.plan()
	return f
}

func (f *Finder) wants(r *row) bool {
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

// Lists are the lists to read, in an order that needs little memory; any other finds the same.
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
	}
	if list.source {
		f.graph.Add(o)
	}
	if list.counted {
		f.count(o)
	}
	if list.noted {
		noteOf[list.Kind.GroupKind()](&f.notes, o)
	}
	if list.texts {
		f.readTexts(o)
	}
	if list.detailed {
		f.detail(o)
	}
}

// keep keeps a candidate. An object may pass twice, when a list had to begin anew.
func (f *Finder) keep(r *row, o *object.Parts, c *candidate) {
	c.row = r
	c.found.Kind, c.found.UID, c.found.Created = o.Kind, types.UID(string(o.UID)), o.Created
	c.found.Namespace, c.found.Name = unique.Make(o.Namespace).Value(), strings.Clone(o.Name)
	c.found.Type = r.typ
	c.found.Managed = f.managedBy(o)
	c.reported = isReported(o)
	c.excluded = f.Include != nil && !f.Include(o.Object)
	known := f.candidates[o.UID]
	if i := slices.IndexFunc(known, func(k *candidate) bool { return k.row == r }); i >= 0 {
		known[i] = c
		return
	}
	f.candidates[c.found.UID] = append(known, c)
	f.bytes += int64(
		512 + len(o.Namespace) + len(o.Name) + 192*len(c.names) + len(c.found.Reason) + 128*len(c.found.Marks),
	)
}

// Findings judges, after all lists were read. They are in the order of kinds, namespaces and names.
func (f *Finder) Findings() []*Finding {
	f.prepare()
	for changed := true; changed; { // what is unused uses nothing: what it names may be found in the next round
		changed = f.judgeAll()
	}
	f.doubt()
	var all []*Finding
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if c.isFound && !c.excluded && f.wantsType(&c.found) && !leadsNowhere(c, candidates) {
				all = append(all, &c.found)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Kind.Group, b.Kind.Group),
			cmp.Compare(a.Kind.Kind, b.Kind.Kind),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Type, b.Type),
		)
	})
	return all
}

// judgeAll judges the candidates that are not found yet. It reports whether this may change what is said of others.
func (f *Finder) judgeAll() (changed bool) {
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if c.isFound {
				continue
			}
			if finding := f.judge(c); finding != nil {
				c.found, c.isFound = *finding, true
				changed = f.usesNothing(&c.found) || changed
			}
		}
	}
	return changed
}

// leadsNowhere reports whether what an object names in vain is all that it is for: it is unused, by another candidate
// of it, and not dangling.
func leadsNowhere(c *candidate, all []*candidate) bool {
	return c.found.Type == v1alpha1.FindingDangling && slices.ContainsFunc(all, func(other *candidate) bool {
		return other.row.typ == v1alpha1.FindingUnused && other.isFound && len(other.found.Unknown) == 0
	})
}

// judge says what was found of a candidate.
func (f *Finder) judge(c *candidate) *Finding {
	switch {
	case c.row.judge != nil:
		return c.row.judge(f, c)
	case c.decide != nil:
		return c.decide(f, c.found)
	}
	found := c.found
	return &found
}

// prepare begins to judge. It takes note of what looks idle and is not.
func (f *Finder) prepare() {
	f.searches = map[*row]*search{}
	f.graph.SetAwake(func(name graph.Name) bool { return f.scaled[name] || f.asleep[name.Namespace] })
}

func (f *Finder) wantsType(found *Finding) bool {
	return f.Wanted == nil || slices.Contains(f.Wanted, Want{found.Kind.GroupKind(), found.Type})
}

// usesNothing takes note of an object that uses nothing. What is unknown may use what it names.
func (f *Finder) usesNothing(found *Finding) bool {
	switch found.Type {
	case v1alpha1.FindingUnused, v1alpha1.FindingCascading, v1alpha1.FindingIdle:
	default:
		return false
	}
	if len(found.Unknown) > 0 {
		return false
	}
	f.graph.SetIdle(graph.Name{GroupKind: found.Kind.GroupKind(), Namespace: found.Namespace, Name: found.Name})
	return true
}
