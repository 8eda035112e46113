// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// partKey is the key of a part in its Secret.
const partKey = "part.gz"

// +kubebuilder:rbac:groups="",resources=secrets,namespace=projectsveltos,verbs=get;list;create;update;delete

// ErrNoPart says that what a run wrote down is not there, by the API server's word.
var ErrNoPart = errors.New("it is not there")

// Parts reads what runs wrote down in parts: it needs the right to get the Secrets of the operator's namespace.
type Parts struct {
	client client.Reader
	// CopiesPath is the directory for copies, as the operator's --copies-path names it. Empty when it is not at hand: then
	// the copies that are files cannot be read.
	CopiesPath string
}

// NewParts returns a reader of parts.
func NewParts(live client.Reader) *Parts { return &Parts{client: live} }

// place is where the parts of a run are: in a namespace, with an attempt in their names.
type place struct{ namespace, attempt string }

func placeOf(intent *v1alpha1.RunIntent) place { return place{intent.Namespace, intent.Attempt} }

// of reads the parts of one stream of a run.
func (p *Parts) of(run *v1alpha1.CleanerRun, stream string) getPart {
	at := placeOf(run.Status.Intent)
	return func(ctx context.Context, n int32) ([]byte, error) {
		if n == 0 && run.Status.Intent.Bundled {
			secret, err := p.secret(ctx, run, at, streamBundle, 0)
			if err != nil {
				return nil, err
			}
			if data := secret.Data[bundleKey(stream)]; data != nil {
				return data, nil
			} // else it was written later
		}
		return p.part(ctx, run, at, stream, n)
	}
}

// part reads the n-th part of a stream that has a Secret of its own.
func (p *Parts) part(ctx context.Context, run *v1alpha1.CleanerRun, at place, stream string, n int32) ([]byte, error) {
	secret, err := p.secret(ctx, run, at, stream, n)
	if err != nil {
		return nil, err
	}
	return secret.Data[partKey], nil
}

// outcomes reads the n-th part of the outcomes, and the Secret where it is. There is none when none was saved yet.
func (p *Parts) outcomes(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	n int32,
) (secret *corev1.Secret, data []byte, err error) {
	stream, key := streamOutcomes, partKey
	if n == 0 && run.Status.Intent.Bundled {
		stream, key = streamBundle, bundleKey(streamOutcomes)
	}
	secret, err = p.secret(ctx, run, placeOf(run.Status.Intent), stream, n)
	switch {
	case errors.Is(err, ErrNoPart) && stream == streamOutcomes:
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return secret, secret.Data[key], nil
}

func (p *Parts) secret(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	at place,
	stream string,
	n int32,
) (*corev1.Secret, error) {
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: at.namespace, Name: partName(run, at.attempt, stream, n)}
	err := p.client.Get(ctx, key, &secret)
	switch {
	case apiserver.IsAbsent(err, key.Name):
		err = fmt.Errorf("%w: %w", ErrNoPart, err)
	case err == nil && (secret.Name != key.Name || secret.UID == ""):
		err = errUnproved
	}
	if err != nil {
		return nil, fmt.Errorf("reading part %d of the %s of run %s (Secret %s): %w", n, stream, run.Name, key, err)
	}
	return &secret, nil
}

// copies hands what the chains of copies hold to each: an object that is in a file has none yet.
func (p *Parts) copies(ctx context.Context, run *v1alpha1.CleanerRun, each func(Copy) error) error {
	kept := run.Status.Copies
	if kept == nil || run.Status.Intent == nil {
		return nil
	}
	decode := func(d *json.Decoder) error {
		var c Copy
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			return err
		}
		return each(c)
	}
	get := p.of(run, streamCopies)
	if kept.Storage == v1alpha1.StorageS3 {
		bucket, err := openBucket(ctx, p.client, run.Status.Intent.Namespace, kept.S3Secret)
		if err != nil {
			return err
		}
		get = func(ctx context.Context, n int32) ([]byte, error) {
			return bucket.get(ctx, bucket.key(run, run.Status.Intent.Attempt, n))
		}
	}
	if err := readChain(
		ctx,
		run.UID,
		streamCopies,
		kept.Parts,
		kept.Head,
		get,
		decode,
	); err != nil ||
		kept.Secrets == nil {
		return err
	}
	return readChain(ctx, run.UID, streamSecrets, kept.Secrets.Parts, kept.Secrets.Head, p.of(run, streamSecrets), decode)
}

// file reads the object of a copy that is in a file.
func (p *Parts) file(c Copy) (json.RawMessage, error) {
	if p.CopiesPath == "" {
		return nil, fmt.Errorf(
			"the copy is the file %s on the operator's volume: mount the volume, and name its directory with --copies-path",
			c.File,
		)
	}
	object, err := readFile(p.CopiesPath, c)
	return object, wrap("reading a copy below "+p.CopiesPath, err)
}

func partName(run *v1alpha1.CleanerRun, attempt, stream string, n int32) string {
	return fmt.Sprintf("%s-%s-%s-%d", run.Name, attempt, stream, n)
}

// newPart is the Secret of one part.
func newPart(run *v1alpha1.CleanerRun, namespace, attempt, stream string, n int32, data []byte) *corev1.Secret {
	return newSecret(run, namespace, attempt, stream, n, map[string][]byte{partKey: data})
}
