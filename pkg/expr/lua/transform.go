// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"reflect"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Transform calls transform for one object. The patch is a JSON merge patch (RFC 7386) of just what the script changed,
// nil when it changed nothing or returned nothing. Numbers in it are json.Number. It never holds the object's identity: a
// script that changes that fails.
func (s *Session) Transform(ctx context.Context, o object.Object) (patch map[string]any, message string, err error) {
	value, err := o.Value()
	if err != nil {
		return nil, "", err
	}
	if err := s.open(ctx, string(o.UID)); err != nil {
		return nil, "", err
	}
	in := importer{state: s.box.state, sources: make(map[*gopher.LTable]any)}
	result, err := s.run(ctx, call{
		function: "transform", global: "obj", argument: in.value(value, 1), limit: s.options.ObjectTimeout,
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
	patch, err = difference(value, table.RawGetString("resource"), in)
	if err != nil {
		return nil, "", err
	}
	return patch, message, nil
}

func difference(original map[string]any, resource gopher.LValue, in importer) (map[string]any, error) {
	if resource == gopher.LNil {
		return nil, faultf("transform returned a table without resource; " +
			"return {resource=obj}, or nothing to leave the object unchanged")
	}
	restored, err := newRestorer(in).value(resource, original, nil)
	if err != nil {
		return nil, err
	}
	changed, ok := restored.(map[string]any)
	if !ok {
		return nil, faultf("transform returned a resource that is no object; return {resource=obj}")
	}
	if err := checkIdentity(original, changed); err != nil {
		return nil, err
	}
	patch := mergePatch(original, changed)
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

// checkIdentity protects the fields that say which object a patch is for, and which version of it was judged.
func checkIdentity(original, changed map[string]any) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if !reflect.DeepEqual(original[field], changed[field]) {
			return faultf("transform changed %s; identity must stay as it was", field)
		}
	}
	was, _ := original["metadata"].(map[string]any)
	now, _ := changed["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion"} {
		if !reflect.DeepEqual(was[field], now[field]) {
			return faultf("transform changed metadata.%s; identity must stay as it was", field)
		}
	}
	return nil
}
