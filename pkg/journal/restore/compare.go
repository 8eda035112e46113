// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Comparison is one object as its copy is, as it is now, and as a restore would make it.
type Comparison struct {
	Item *Item
	// Copy is the last that the run made. Live is nil when there is no object of the name. After is what the API server
	// would make of the restore. It is nil when a restore would leave the object alone: Item says why.
	Copy, Live, After *object.Object
}

// Compare has the API server try to restore the one object that is wanted. It is nil when the run made no copy of it.
func (r *Restorer) Compare(ctx context.Context, run *v1alpha1.CleanerRun, options Options) (*Comparison, error) {
	p, err := r.Plan(ctx, run, options)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.Items, func(item *Item) bool { return item.copy != nil })
	if i < 0 {
		return nil, nil
	}
	item := p.Items[i]
	if item.copy.Problem != nil {
		return nil, item.copy.Problem
	}
	copied, err := objectOf(item.copy)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Item: item, Copy: &copied, Live: item.live}
	if item.Result != Planned {
		return c, nil
	}
	after := item.tried
	if after == nil && item.Step != StepPutBack { // it could not be tried: it waits for its namespace, or for an end
		if after, err = json.Marshal(item.body); err != nil {
			return nil, err
		}
	}
	if after != nil {
		c.After = &object.Object{Kind: copied.Kind, Namespace: copied.Namespace, Name: copied.Name, Raw: after}
	}
	return c, nil
}

// LeftOut are the fields of the copy that a restore leaves out, or that get another value. What every object gets from
// the API server, such as a UID, is not among them.
func (c *Comparison) LeftOut() []string {
	if c.After == nil {
		return nil
	}
	copied, after := decoded(c.Copy.Kind, c.Copy.Raw), decoded(c.After.Kind, c.After.Raw)
	for _, side := range []map[string]any{copied, after} {
		if metadata, ok := side["metadata"].(map[string]any); ok {
			for _, field := range serverMetadata {
				delete(metadata, field)
			}
		}
	}
	if !equal(copied["status"], after["status"]) {
		copied["status"] = "another" // one word for all of it
	}
	return differing(copied, after, "")
}

// differing are the paths at which after is not as copied.
func differing(copied, after map[string]any, at string) (paths []string) {
	for _, key := range slices.Sorted(maps.Keys(copied)) {
		name := key
		switch {
		case strings.ContainsAny(key, "./"):
			name = fmt.Sprintf("%s[%q]", at, key)
		case at != "":
			name = at + "." + key
		}
		inner, isMap := copied[key].(map[string]any)
		innerAfter, isMapAfter := after[key].(map[string]any)
		switch {
		case equal(copied[key], after[key]):
		case isMap && isMapAfter:
			paths = append(paths, differing(inner, innerAfter, name)...)
		default:
			paths = append(paths, name)
		}
	}
	return paths
}
