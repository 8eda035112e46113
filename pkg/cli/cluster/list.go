// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

// List reads a list in pages of 500, so that no answer is very large, and calls each with every item. An expired page
// makes it read the whole list anew.
func List[L, Item any, List interface {
	*L
	runtime.Object
}](ctx context.Context, c *Client, path string, each func(item *Item)) error {
	all, _, err := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		request := c.Raw.Get().AbsPath(path)
		if options.Limit > 0 {
			request.Param("limit", strconv.FormatInt(options.Limit, 10))
		}
		if options.Continue != "" {
			request.Param("continue", options.Continue)
		}
		body, err := Send(ctx, request)
		if err != nil {
			return nil, err
		}
		page := List(new(L))
		return page, json.Unmarshal(body, page)
	}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	return meta.EachListItem(all, func(o runtime.Object) error {
		item, ok := any(o).(*Item)
		if !ok {
			return fmt.Errorf("reading %s: the list holds a %T", path, o)
		}
		each(item)
		return nil
	})
}
