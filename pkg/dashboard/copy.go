// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"errors"
	"net/http"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// copy shows what a restore would make of a copy, beside the object as it is now. The person reads and tries both.
func (s *Server) copy(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	wanted, ok := cluster.ParseRef(r.URL.Query().Get("object"))
	if !ok {
		return 0, nil, badRequest("object must be KIND/NAMESPACE/NAME or KIND/NAME")
	}
	leave, err := s.enter(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	run, err := readRun(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	parts, err := p.api.Parts()
	if err != nil {
		return 0, nil, err
	}
	force := r.URL.Query().Get("force") == "true"
	compared, err := restore.New(p.api.Raw, parts).Compare(ctx, run, restore.Options{Only: wanted.Is, Force: force})
	var nothing *restore.NothingError
	switch {
	case errors.As(err, &nothing):
		return 0, nil, notFound("%s", nothing)
	case err != nil:
		return 0, nil, err
	case compared == nil:
		return 0, nil, notFound("run %s made no copy of %s", run.Name, wanted)
	}
	answer, err := comparison(compared)
	return http.StatusOK, answer, err
}

// comparison writes both sides as YAML, without what the API server sets, and without the values of Secrets.
func comparison(c *restore.Comparison) (*CopyCompared, error) {
	answer := CopyCompared{Why: c.Item.Reason, LeftOut: c.LeftOut()}
	after := c.After
	if after == nil {
		after = c.Copy
	} else {
		answer.Restores = true
	}
	becomes, err := bare(after)
	if err != nil {
		return nil, err
	}
	is, objects := map[string]any{}, []object.Object{*c.Copy, *after}
	if c.Live != nil {
		if is, err = bare(c.Live); err != nil {
			return nil, err
		}
		objects = append(objects, *c.Live)
	}
	if c.Copy.IsSecret() {
		is, becomes = manifest.MaskSides(object.Masker(objects...), is, becomes)
	}
	if c.Live != nil {
		if answer.Live, err = manifest.PlainYAML(is); err != nil {
			return nil, err
		}
	}
	answer.After, err = manifest.PlainYAML(becomes)
	return &answer, err
}

// bare is what people wrote of an object.
func bare(o *object.Object) (map[string]any, error) {
	value, err := o.Value()
	if err != nil {
		return nil, err
	}
	value["apiVersion"], value["kind"] = o.Kind.APIVersion(), o.Kind.Kind
	delete(value, "status")
	if metadata, ok := value["metadata"].(map[string]any); ok {
		for _, field := range []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp"} {
			delete(metadata, field)
		}
	}
	return value, nil
}
