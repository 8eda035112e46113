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
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// How many objects are read at once, which bounds the memory: a record can be 256 KiB large, a Cleaner is about 20.
const (
	fewLarge  = 50
	manySmall = 250
)

// parallelPages is how many pages are in memory at once, of all people. The others wait.
const parallelPages = 4

// eachOf reads a list in small pages, and keeps none of them: what is wanted of an item, each takes. cluster.List keeps
// them all. fieldSelector is at most one.
func eachOf[L, Item any, List interface {
	*L
	runtime.Object
}](ctx context.Context, p *person, path string, atOnce int, each func(item *Item), fieldSelector ...string,
) error {
	for next := ""; ; {
		request := p.api.Raw.Get().AbsPath(path).Param("limit", strconv.Itoa(atOnce))
		if next != "" {
			request.Param("continue", next)
		}
		for _, selector := range fieldSelector {
			request.Param("fieldSelector", selector)
		}
		var err error
		if next, err = eachOnPage[L, Item, List](ctx, p, request, each); err != nil || next == "" {
			return err
		}
	}
}

// eachOnPage reads one page, and returns where the next begins. While it has the page, it has one of the server's
// places for pages. each must read no
// other page: it could wait for ever.
func eachOnPage[L, Item any, List interface {
	*L
	runtime.Object
}](ctx context.Context, p *person, request *rest.Request, each func(item *Item)) (next string, err error) {
	select {
	case p.pages <- struct{}{}:
		defer func() { <-p.pages }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	body, err := cluster.Send(ctx, request)
	if err != nil {
		return "", err
	}
	page := List(new(L))
	if err := json.Unmarshal(body, page); err != nil {
		return "", err
	}
	err = meta.EachListItem(page, func(o runtime.Object) error {
		item, ok := any(o).(*Item)
		if !ok {
			return fmt.Errorf("the list holds a %T", o)
		}
		each(item)
		return nil
	})
	list, errList := meta.ListAccessor(page)
	if err != nil || errList != nil {
		return "", fmt.Errorf("reading %s: %w", request.URL().Path, firstOf(err, errList))
	}
	return list.GetContinue(), nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
