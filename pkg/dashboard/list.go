// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// How many objects are read at once, which bounds the memory: a record can be 256 KiB large, a Cleaner is about 20.
const (
	fewLarge  = 50
	manySmall = 250
)

// eachOf reads a list in small pages, and keeps none of them: what is wanted of an item, each takes. cluster.List keeps
// them all. fieldSelector is at most one.
func eachOf[L, Item any, List interface {
	*L
	runtime.Object
}](ctx context.Context, api *cluster.Client, path string, atOnce int, each func(item *Item),
	fieldSelector ...string,
) error {
	for next := ""; ; {
		request := api.Raw.Get().AbsPath(path).Param("limit", strconv.Itoa(atOnce))
		if next != "" {
			request.Param("continue", next)
		}
		for _, selector := range fieldSelector {
			request.Param("fieldSelector", selector)
		}
		body, err := cluster.Send(ctx, request)
		if err != nil {
			return err
		}
		page := List(new(L))
		if err := json.Unmarshal(body, page); err != nil {
			return err
		}
		err = meta.EachListItem(page, func(o runtime.Object) error {
			item, ok := any(o).(*Item)
			if !ok {
				return fmt.Errorf("reading %s: the list holds a %T", path, o)
			}
			each(item)
			return nil
		})
		list, errList := meta.ListAccessor(page)
		if err != nil || errList != nil {
			return fmt.Errorf("reading %s: %w", path, firstOf(err, errList))
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
