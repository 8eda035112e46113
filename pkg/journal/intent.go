// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Streams of what a run writes down, as the values of the label PartLabel.
const (
	streamIntent   = "intent"
	streamOutcomes = "outcomes"
	streamCopies   = "copies"
	// streamSecrets are the copies of Secrets when the others are not in Secrets.
	streamSecrets = "secrets"
	// streamObjects are the objects that the record of a run that touched nothing has no room for.
	streamObjects = "objects"
)

// Victim is an object that a run is going to delete or change.
type Victim struct {
	stage.Candidate
	// Patch is what a Transform sends. Nil for a Delete.
	Patch object.JSON
}

// Intent is a victim as it is written down before anything is touched.
type Intent struct {
	Group           string    `json:"group,omitempty"`
	Version         string    `json:"version"`
	Kind            string    `json:"kind"`
	Resource        string    `json:"resource"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
	Message         string    `json:"message,omitempty"`
	// Selector is the index of the selector that selected it.
	Selector int `json:"selector,omitempty"`
	// Patch is what a Transform sends.
	Patch json.RawMessage `json:"patch,omitempty"`
	// VolumeBytes is the capacity of a claim or volume.
	VolumeBytes int64 `json:"volumeBytes,omitempty"`
}

// Victim is the victim again, without its bytes.
func (i *Intent) Victim() Victim {
	return Victim{
		Candidate: stage.Candidate{
			Object: i.Object(), Selector: i.Selector, Message: i.Message, VolumeBytes: i.VolumeBytes,
		},
		Patch: object.JSON(i.Patch),
	}
}

// Object is the identity of the victim, without its bytes.
func (i *Intent) Object() object.Object {
	return object.Object{
		Kind:            i.kind(),
		Namespace:       i.Namespace,
		Name:            i.Name,
		UID:             i.UID,
		ResourceVersion: i.ResourceVersion,
	}
}

func (i *Intent) kind() object.Kind {
	return object.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: i.Group, Version: i.Version, Kind: i.Kind},
		Resource:         i.Resource, Namespaced: i.Namespace != "",
	}
}

func intentOf(v Victim) Intent {
	return Intent{
		Group: v.Kind.Group, Version: v.Kind.Version, Kind: v.Kind.Kind, Resource: v.Kind.Resource,
		Namespace: v.Namespace, Name: v.Name, UID: v.UID, ResourceVersion: v.ResourceVersion,
		Message: v.Message, Selector: v.Selector, Patch: json.RawMessage(v.Patch), VolumeBytes: v.VolumeBytes,
	}
}

// Copy is an object as it was before a run touched it.
type Copy struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Resource        string    `json:"resource"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
	// Object is what the API server sent, without metadata.managedFields. What comes from a list of a built-in kind has no
	// apiVersion and kind.
	Object json.RawMessage `json:"object,omitempty"`
	// Patch is what a Transform sent.
	Patch json.RawMessage `json:"patch,omitempty"`
	// File is where the object is instead, below the directory for copies, and SHA256 the hash of that file.
	File   string `json:"file,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Problem says why Object could not be read from File. It is not written.
	Problem error `json:"-"`
}

func copyOf(v Victim) Copy {
	return Copy{
		APIVersion: v.Kind.APIVersion(), Kind: v.Kind.Kind, Resource: v.Kind.Resource,
		Namespace: v.Namespace, Name: v.Name, UID: v.UID, ResourceVersion: v.ResourceVersion,
		Object: object.AppendWithoutManagedFields(nil, v.Raw), Patch: json.RawMessage(v.Patch),
	}
}

// SavedOutcome is what became of a victim.
type SavedOutcome struct {
	// Index is the victim's place in the intent.
	Index   int                    `json:"i"`
	Outcome v1alpha1.OutcomeResult `json:"outcome"`
	Reason  string                 `json:"reason,omitempty"`
	// Message is the script's, if it is another than the intent's.
	Message string `json:"message,omitempty"`
}

// ReadIntent reads what a run was going to touch, and proves it against the CleanerRun's status.
func ReadIntent(ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun) ([]Intent, error) {
	return readIntent(ctx, parts, run, func(int, int) error { return nil })
}

func readIntent(
	ctx context.Context,
	parts *Parts,
	run *v1alpha1.CleanerRun,
	keep func(number, bytes int) error,
) ([]Intent, error) {
	var intents []Intent
	err := eachIntent(ctx, parts, run, func(intent *Intent) error {
		intents = append(intents, *intent)
		return keep(len(intents), len(intent.Message)+len(intent.Patch))
	})
	return intents, err
}

// eachIntent hands out what a run was going to touch, one after the other, when all of it was proved.
func eachIntent(ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun, each func(*Intent) error) error {
	written := run.Status.Intent
	if written == nil {
		return nil
	}
	read := func(d *json.Decoder) error {
		var intent Intent
		d.UseNumber()
		if err := d.Decode(&intent); err != nil {
			return err
		}
		return each(&intent)
	}
	return readChain(ctx, run.UID, streamIntent, written.Parts, written.Head, parts.of(run, streamIntent), read)
}

// ReadCopies proves the copies of a run against the CleanerRun's status, and then hands each to each. An object that
// changed while the run went on has several: the last is what the run deleted or changed. A copy whose file cannot be
// read, or is not what the run wrote, has a Problem and no Object.
func ReadCopies(ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun, each func(Copy) error) error {
	if kept := run.Status.Copies; kept != nil && kept.Dropped != "" {
		return fmt.Errorf("the copies of run %s are not kept any more: %s", run.Name, kept.Dropped)
	}
	return parts.copies(ctx, run, func(c Copy) error {
		if c.File != "" {
			c.Object, c.Problem = parts.file(c)
		}
		return each(c)
	})
}
