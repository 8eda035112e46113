// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// NeedLeaderElection says that every replica watches: the next leader must know at once.
func (s *Switch) NeedLeaderElection() bool { return false }

// Start watches the operator's namespace, its metadata only, until the context ends. A watch that breaks begins anew by
// itself; what is known holds meanwhile.
func (s *Switch) Start(ctx context.Context) error {
	only := fields.OneTermEqualSelector("metadata.name", s.namespace).String()
	informer := cache.NewSharedInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = only
			return s.client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = only
			return s.client.Watch(ctx, options)
		},
	}, &metav1.PartialObjectMetadata{}, 0)
	if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		if ctx.Err() == nil {
			s.failed(err)
		}
	}); err != nil {
		return fmt.Errorf("watching the operator's namespace: %w", err)
	}
	seen := func(namespace any) {
		if metadata, ok := namespace.(metav1.Object); ok && metadata.GetName() == s.namespace {
			s.set(reasonOf(metadata), nil)
		}
	}
	gone := func() { s.set("", fmt.Errorf("the operator's namespace %s does not exist", s.namespace)) }
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: seen, UpdateFunc: func(_, now any) { seen(now) }, DeleteFunc: func(any) { gone() },
	})
	if err != nil {
		return fmt.Errorf("watching the operator's namespace: %w", err)
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) && len(informer.GetStore().List()) == 0 {
			gone()
		}
	}()
	informer.RunWithContext(ctx)
	if ctx.Err() == nil {
		return errors.New("watching the operator's namespace ended")
	}
	return nil
}
