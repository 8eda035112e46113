// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore brings back what a run deleted, and undoes what it changed, from the copies that the run made. It
// acts through the client that it is given, which is to be the one of whoever asks: a forged copy gains nobody
// anything. A Plan says what is to become of each object and why; nothing is changed before Carry is called.
package restore

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Step is what is to be done to bring an object back.
type Step string

// The steps. The empty one leaves the object alone.
const (
	// StepCreate creates an object that is not there.
	StepCreate Step = "Create"
	// StepOverwrite makes an object that is there and differs as its copy is.
	StepOverwrite Step = "Overwrite"
	// StepPutBack puts back the fields that a Transform changed.
	StepPutBack Step = "PutBack"
)

// Result is what became of an object.
type Result string

// The results.
const (
	// Planned is a step that is still to be carried out.
	Planned Result = "Planned"
	// Restored is an object that was brought back, or is again as it was before it was changed.
	Restored Result = "Restored"
	// Already is an object that needs no bringing back: it is as its copy is.
	Already Result = "RestoredAlready"
	// Exists is an object that is there and is not as its copy is.
	Exists Result = "Exists"
	// ChangedSince is an object that somebody edited where the run had changed it.
	ChangedSince Result = "ChangedSince"
	// Left is an object that is not to be brought back; the reason says why.
	Left Result = "NotRestored"
	// Failed is an object that could not be brought back.
	Failed Result = "Failed"
	// Interrupted is an object that was not come to.
	Interrupted Result = "Interrupted"
)

// IsProblem reports whether the object is not as whoever asked wants it.
func (r Result) IsProblem() bool {
	return r == Exists || r == ChangedSince || r == Failed || r == Interrupted
}

// Options say what to bring back, and how.
type Options struct {
	// Only, if any, says which objects are asked for. They are then named one by one: see Item.Reason of those left alone.
	Only func(object.Object) bool
	// Force makes objects that exist and differ as their copies are, undoes changes that were edited since, and brings
	// objects back without the fields that their kind has lost since.
	Force bool
	// Status brings the status back too, where the kind has one.
	Status bool
	// KeepFinalizers brings the finalizers back too: without the controllers that remove them, the object cannot be
	// deleted.
	KeepFinalizers bool
}

// Item is one object that the run touched, or that was asked for, and what becomes of it.
type Item struct {
	object.Object
	Step   Step
	Result Result
	// Reason says why the object is left alone or failed.
	Reason string
	// Notes say what is not as it was.
	Notes []string

	copy    *journal.Copy
	outcome v1alpha1.OutcomeResult
	named   bool
	body    map[string]any
	live    *object.Object
	// tried is what the API server would make of the object. Nil when it was not tried, or refused.
	tried []byte
	// lossy is true when the object may come back without the fields that its kind does not know any more.
	lossy bool
}

// HasCopy reports whether the run kept a copy of the object.
func (i *Item) HasCopy() bool { return i.copy != nil }

// IsMissing reports whether the object is left alone although it is gone, and nobody knows whether the run deleted it.
func (i *Item) IsMissing() bool {
	hasCopy := i.copy != nil && i.copy.Problem == nil && len(i.copy.Patch) == 0 // a Transform deletes nothing
	return i.Result == Left && hasCopy && i.live == nil && slices.Contains(uncertain, i.outcome)
}

func (i *Item) take(p plan) {
	i.Step, i.Result, i.Reason, i.Notes, i.body = p.step, p.result, p.reason, p.notes, p.body
}

// fail ends an item. No value of a Secret is in its reason.
func (i *Item) fail(err error) {
	i.Result, i.Reason = Failed, i.mask(err.Error())
}

func (i *Item) mask(text string) string {
	secrets := []object.Object{i.Object}
	if i.live != nil {
		secrets = append(secrets, *i.live)
	}
	return object.Mask(apiserver.WithoutBody(text), secrets...)
}

// Plan is what is to become of the objects of a run. It belongs to one goroutine.
type Plan struct {
	Items []*Item

	run     *v1alpha1.CleanerRun
	options Options
	// returning are the paths of what this restore brings back and others need: namespaces, and the collections of kinds.
	returning map[string]bool
}

// Count returns how many items have one of the results.
func (p *Plan) Count(results ...Result) int64 {
	var n int64
	for _, item := range p.Items {
		for _, result := range results {
			if item.Result == result {
				n++
			}
		}
	}
	return n
}

// Restorer brings objects back through one REST client.
type Restorer struct {
	client rest.Interface
	parts  *journal.Parts
	cluster
}

// New returns a Restorer that acts through a client for absolute paths, and reads what runs wrote down through parts.
// Both are to be those of whoever asks.
func New(client rest.Interface, parts *journal.Parts) *Restorer {
	return &Restorer{client: client, parts: parts, cluster: newCluster(client)}
}

// kindOf is the kind of a copy.
func kindOf(c *journal.Copy) (object.Kind, error) {
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	return object.Kind{GroupVersionKind: gv.WithKind(c.Kind), Resource: c.Resource, Namespaced: c.Namespace != ""}, err
}

// objectOf is a copy as an object. A copy that is of another object than it says is refused.
func objectOf(c *journal.Copy) (object.Object, error) {
	kind, err := kindOf(c)
	if err != nil {
		return object.Object{}, err
	}
	if !json.Valid(c.Object) {
		return object.Object{}, fmt.Errorf("the copy of %s %s is not valid JSON", c.Kind, c.Name)
	}
	o, err := object.New(kind, c.Object)
	if err == nil && (o.Namespace != c.Namespace || o.Name != c.Name || o.UID != c.UID) {
		err = fmt.Errorf("the copy of %s %s holds another object: %s", c.Kind, c.Name, o)
	}
	return o, err
}
