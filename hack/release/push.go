// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// pushImage pushes the image of all platforms under a tag, and the SBOM of each platform as a referrer of its image.
func pushImage(ctx context.Context, ref string, all images, options ...remote.Option) error {
	tag, err := newTag(ctx, ref, all.index, options)
	if err != nil {
		return err
	}
	options = append(options, remote.WithContext(ctx))
	if err := remote.WriteIndex(tag, all.index, options...); err != nil {
		return fmt.Errorf("pushing %s: %w", tag, err)
	}
	for _, t := range all.order {
		sbom := all.platforms[t].sbomArtifact
		digest, err := sbom.Digest()
		if err != nil {
			return err
		}
		if err := remote.Write(tag.Context().Digest(digest.String()), sbom, options...); err != nil {
			return fmt.Errorf("pushing the SBOM of %s for %s: %w", tag, t, err)
		}
	}
	return nil
}

// pushChart pushes the chart under its version.
func pushChart(ctx context.Context, ref string, image v1.Image, options ...remote.Option) error {
	tag, err := newTag(ctx, ref, image, options)
	if err != nil {
		return err
	}
	if err := remote.Write(tag, image, append(options, remote.WithContext(ctx))...); err != nil {
		return fmt.Errorf("pushing %s: %w", tag, err)
	}
	return nil
}

// newTag refuses a tag that already means something else: people have pinned it. To push the same again is allowed.
func newTag(
	ctx context.Context,
	ref string,
	content interface{ Digest() (v1.Hash, error) },
	options []remote.Option,
) (name.Tag, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return tag, fmt.Errorf("the reference %q: %w", ref, err)
	}
	digest, err := content.Digest()
	if err != nil {
		return tag, err
	}
	there, err := remote.Head(tag, append(options, remote.WithContext(ctx))...)
	switch failure := (*transport.Error)(nil); {
	case errors.As(err, &failure) && failure.StatusCode == http.StatusNotFound:
		return tag, nil
	case err != nil:
		return tag, fmt.Errorf("looking for %s: %w", tag, err)
	case there.Digest != digest:
		return tag, fmt.Errorf(
			"%s exists with other content (%s, not %s): a release is never replaced, choose a new version",
			tag,
			there.Digest,
			digest,
		)
	}
	return tag, nil
}

// checkPublic fails if a tag cannot be pulled without a login. A registry may make new packages private.
func checkPublic(ctx context.Context, ref string) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("the reference %q: %w", ref, err)
	}
	if _, err := remote.Head(tag, remote.WithContext(ctx), remote.WithAuth(authn.Anonymous)); err != nil {
		return fmt.Errorf(
			"%s is pushed, but nobody can pull it without a login: "+
				"make its package public in the registry, and repeat the release: %w",
			tag,
			err,
		)
	}
	return nil
}
