// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// streamBundle is, as the value of the label PartLabel, one Secret with the first part of each stream.
	streamBundle = "bundle"
	// bundleBytes is how much the first parts take together for that, without the outcomes, with which it is written
	// again.
	bundleBytes = 64 << 10
)

// bundle holds the first parts of a run's intent and copies back, until it is known whether there are more.
type bundle struct {
	journal *Journal
	run     *v1alpha1.CleanerRun
	attempt string
	// elsewhere is true when the run keeps copies that are not in Secrets.
	elsewhere bool

	// parts are the first parts, by bundleKey.
	parts map[string][]byte
	// closed is true when no more is held back.
	closed bool
	// written are the names of the Secrets that were written, or may have been.
	written []string
}

func (j *Journal) newBundle(run *v1alpha1.CleanerRun, attempt string) *bundle {
	return &bundle{journal: j, run: run, attempt: attempt, parts: map[string][]byte{}}
}

func bundleKey(stream string) string { return stream + ".gz" }

// chain is a chain whose parts are in Secrets.
func (b *bundle) chain(stream string, limit *budget) *chain {
	return newChain(
		b.run.UID,
		stream,
		limit,
		func(ctx context.Context, n int32, data []byte) error { return b.put(ctx, stream, n, data) },
	)
}

func (b *bundle) put(ctx context.Context, stream string, n int32, data []byte) error {
	size := len(data)
	for _, part := range b.parts {
		size += len(part)
	}
	if n == 0 && !b.closed && size <= bundleBytes {
		b.parts[bundleKey(stream)] = data
		return nil
	}
	if err := b.spill(ctx); err != nil {
		return err
	}
	return b.create(ctx, b.part(stream, n, data))
}

// spill writes what was held back into Secrets of its own.
func (b *bundle) spill(ctx context.Context) error {
	if b.closed {
		return nil
	}
	b.closed = true
	for _, stream := range []string{streamCopies, streamSecrets, streamIntent} {
		if data := b.parts[bundleKey(stream)]; data != nil {
			if err := b.create(ctx, b.part(stream, 0, data)); err != nil {
				return err
			}
		}
	}
	b.parts = nil
	return nil
}

// seal writes what was held back into one Secret, and returns that. It is nil when the parts are in Secrets of their
// own.
func (b *bundle) seal(ctx context.Context) (*corev1.Secret, error) {
	if b.closed {
		return nil, nil
	}
	b.closed = true
	secret := newSecret(b.run, b.journal.namespace, b.attempt, streamBundle, 0, maps.Clone(b.parts))
	b.label(secret, slices.Collect(maps.Keys(b.parts))...)
	return secret, b.create(ctx, secret)
}

func (b *bundle) part(stream string, n int32, data []byte) *corev1.Secret {
	part := newPart(b.run, b.journal.namespace, b.attempt, stream, n, data)
	if n == 0 {
		b.label(part, bundleKey(stream))
	}
	return part
}

// label lets the Secret stand for the run's copies where the operator counts the runs that keep some: where it has the
// first of them. Those in S3 have no Secret, so that of the intent stands for them.
func (b *bundle) label(secret *corev1.Secret, keys ...string) {
	has := func(stream string) bool { return slices.Contains(keys, bundleKey(stream)) }
	if has(streamCopies) || has(streamSecrets) || b.elsewhere && has(streamIntent) {
		secret.Labels[v1alpha1.CopiesLabel] = string(b.run.Spec.CleanerUID)
	}
}

func (b *bundle) create(ctx context.Context, part *corev1.Secret) error {
	b.written = append(b.written, part.Name)
	err := b.journal.create(ctx, part)
	if apiserver.IsUnclear(err) { // the answer may be lost: then it is there already
		err = b.journal.createAgain(ctx, part)
	}
	return wrap(fmt.Sprintf("writing Secret %s/%s", part.Namespace, part.Name), err)
}

// createAgain creates a Secret, unless it is there as it is to be. No other attempt has a Secret of this name.
func (j *Journal) createAgain(ctx context.Context, part *corev1.Secret) error {
	err := j.create(ctx, part)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var stored corev1.Secret
	if readErr := j.client.Get(ctx, client.ObjectKeyFromObject(part), &stored); readErr != nil {
		return errors.Join(err, readErr)
	}
	if stored.UID == "" || !maps.EqualFunc(stored.Data, part.Data, bytes.Equal) {
		return err
	}
	part.UID, part.ResourceVersion, part.CreationTimestamp = stored.UID, stored.ResourceVersion, stored.CreationTimestamp
	return nil
}

// drop takes back what was written for a run that then touched nothing. What cannot be taken back goes away with the
// run.
func (b *bundle) drop(ctx context.Context) {
	for _, name := range b.written {
		_ = b.journal.client.Delete(
			ctx,
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.journal.namespace, Name: name}},
		)
	}
}

// newSecret is a Secret that a run writes. It goes away with the run.
func newSecret(
	run *v1alpha1.CleanerRun,
	namespace, attempt, stream string,
	n int32,
	data map[string][]byte,
) *corev1.Secret {
	changes := stream == streamOutcomes || stream == streamBundle
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: partName(run, attempt, stream, n),
			Labels: map[string]string{
				v1alpha1.RunLabel: string(run.UID), v1alpha1.PartLabel: stream,
				"app.kubernetes.io/part-of": "kubecleaner",
			},
			OwnerReferences: []metav1.OwnerReference{
				{
					APIVersion: v1alpha1.GroupVersion.String(),
					Kind:       "CleanerRun",
					Name:       run.Name,
					UID:        run.UID,
					Controller: ptr.To(true),
				},
			},
		},
		Type:      v1alpha1.PartSecretType,
		Immutable: ptr.To(!changes),
		Data:      data,
	}
}
