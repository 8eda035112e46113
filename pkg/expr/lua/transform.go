// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Transform calls transform for one object. The patch is a JSON merge patch (RFC 7386) of just what the script changed,
// nil when it changed nothing or returned nothing. Numbers in it are json.Number. It never holds the object's identity:
// a script that changes that fails.
func (s *Session) Transform(ctx context.Context, o object.Object) (patch map[string]any, message string, err error) {
	if err := s.open(ctx, o); err != nil {
		return nil, "", err
	}
	s.box.forced, s.box.transforming = make(map[*gopher.LTable]*lazy), true
	root, err := s.root(o)
	if err != nil {
		return nil, "", err
	}
	original := root.node()
	result, err := s.run(ctx, call{
		function: "transform", global: "obj", argument: &root.LTable, limit: s.options.ObjectTimeout,
		example: "function transform() return {resource=obj} end",
	})
	if err != nil || result == gopher.LNil {
		return nil, "", err
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return nil, "", faultf("transform returned %s; return {resource=obj}, or nothing to leave the object unchanged",
			described(result))
	}
	message, err = readMessage(table, "transform returned a message")
	if err != nil {
		return nil, "", err
	}
	patch, err = s.difference(original, said(table, "resource"))
	if err != nil {
		return nil, "", err
	}
	return patch, message, nil
}

func (s *Session) difference(original node, resource gopher.LValue) (map[string]any, error) {
	if resource == gopher.LNil {
		return nil, faultf("transform returned a table without resource; " +
			"return {resource=obj}, or nothing to leave the object unchanged")
	}
	restored, err := newRestorer(s.box, original).value(resource, original, nil)
	if err != nil {
		return nil, err
	}
	if kept, ok := restored.(node); ok && kept.isSame(original) {
		return nil, nil
	}
	changed, ok := restored.(map[string]any)
	if !ok {
		return nil, faultf("transform returned a resource that is no object; return {resource=obj}")
	}
	if err := checkIdentity(original, changed); err != nil {
		return nil, err
	}
	patch, err := mergePatch(original, changed)
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	return patch, nil
}

// checkIdentity protects the fields that say which object a patch is for, and which version of it was judged.
func checkIdentity(original node, changed map[string]any) error {
	fields := original.fields()
	for _, field := range []string{"apiVersion", "kind"} {
		if !fields[field].equals(changed[field]) {
			return faultf("transform changed %s; identity must stay as it was", field)
		}
	}
	was := fields["metadata"]
	if kept, ok := changed["metadata"].(node); ok && kept.isSame(was) {
		return nil
	}
	before := was.fields()
	now, _ := changed["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion"} {
		if !before[field].equals(now[field]) {
			return faultf("transform changed metadata.%s; identity must stay as it was", field)
		}
	}
	return nil
}
