// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// copy shows a copy that a run made beside the object as it is now. The person reads both.
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
	copied, live, err := restore.New(p.api.Raw, parts).Compare(ctx, run, wanted.Is)
	switch {
	case err != nil:
		return 0, nil, err
	case copied == nil:
		return 0, nil, notFound("run %s made no copy of %s", run.Name, wanted)
	}
	answer, err := comparison(copied, live)
	return http.StatusOK, answer, err
}

// comparison writes both sides as YAML, without what a restore leaves to the API server, and without the values of
// Secrets.
func comparison(copied, live *object.Object) (*CopyCompared, error) {
	var answer CopyCompared
	was, err := bare(copied)
	if err != nil {
		return nil, err
	}
	is, objects := map[string]any{}, []object.Object{*copied}
	if live != nil {
		if is, err = bare(live); err != nil {
			return nil, err
		}
		objects = append(objects, *live)
	}
	if copied.IsSecret() {
		was, is = manifest.MaskSides(object.Masker(objects...), was, is)
	}
	if live != nil {
		if answer.Live, err = manifest.PlainYAML(is); err != nil {
			return nil, err
		}
	}
	answer.Copy, err = manifest.PlainYAML(was)
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
