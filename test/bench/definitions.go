// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/test/k8scleaner"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	// schemaPath is what says which fields the API server keeps, and onlyOurs one that k8s-cleaner does not have.
	schemaPath, onlyOurs = "/openapi/v3/apis/apps.projectsveltos.io/v1alpha1", `"minAgeSeconds"`
)

// definition is what is needed of a CustomResourceDefinition.
type definition struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// theirs are the CustomResourceDefinitions of k8s-cleaner.
func theirs() (all []definition, err error) {
	for document := range bytes.SplitSeq(k8scleaner.CRDs, []byte("\n---\n")) {
		var one definition
		if err := yaml.Unmarshal(document, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// installTheirs puts the CustomResourceDefinitions of k8s-cleaner in the place of ours. What it returns brings ours
// back.
func installTheirs(ctx context.Context, c rest.Interface) (restore func(context.Context) error, err error) {
	wanted, err := theirs()
	if err != nil {
		return nil, err
	}
	var ours []definition
	for _, one := range wanted {
		body, err := c.Get().AbsPath(definitionsPath, one.Metadata.Name).Do(ctx).Raw()
		if err != nil {
			return nil, err
		}
		var live definition
		if err := json.Unmarshal(body, &live); err != nil {
			return nil, err
		}
		ours = append(ours, live)
	}
	restore = func(ctx context.Context) error { return install(ctx, c, ours, true) }
	if err := install(ctx, c, wanted, false); err != nil {
		return nil, errors.Join(err, restore(ctx))
	}
	return restore, nil
}

// install replaces CustomResourceDefinitions, and waits until the API server shows it: whoever asks it for the fields
// that it keeps, as our manager does, should not see those from before.
func install(ctx context.Context, c rest.Interface, wanted []definition, areOurs bool) error {
	for _, one := range wanted {
		patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec","value":%s}]`, one.Spec)
		path := []string{definitionsPath, one.Metadata.Name}
		if err := c.Patch(types.JSONPatchType).AbsPath(path...).Body(patch).Do(ctx).Error(); err != nil {
			return fmt.Errorf("replacing the CustomResourceDefinition %s: %w", one.Metadata.Name, err)
		}
	}
	for {
		schemas, err := c.Get().AbsPath(schemaPath).Do(ctx).Raw()
		if err == nil && bytes.Contains(schemas, []byte(onlyOurs)) == areOurs {
			return nil
		}
		if err := errors.Join(pause(ctx, 100*time.Millisecond), ctx.Err()); err != nil {
			return fmt.Errorf("waiting until the API server shows other CustomResourceDefinitions: %w", err)
		}
	}
}
