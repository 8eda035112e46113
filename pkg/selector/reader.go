// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selector reads the cluster: it resolves kinds, lists objects page by page, proves that it saw all of them, and
// yields the ones that match as candidates. Whatever it could not read is an error, never an empty answer.
package selector

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Reader reads the cluster through one REST client.
type Reader struct {
	client rest.Interface
	clock  clock.PassiveClock
	*known
	// lists, if any, are those that are read together with others who read as the same account.
	lists   *Lists
	account string
	// waits is how long the run waits, among others, for those who may want its next list, in nanoseconds. Not at all when nobody wanted its last one.
	waits *atomic.Int64
	// patient is whether to wait for an API server that is away.
	patient bool
	// onTrouble, if not nil, is told why a request is sent again, and nil when that is over.
	onTrouble func(*TriedError)
}

// known is what was found out about the server.
type known struct {
	mu sync.Mutex
	// largePages is whether the server is one for large pages. Nil when it was not asked yet.
	largePages *bool
	// resolved are the kinds that were found lately.
	resolved map[schema.GroupVersionKind]resolution
}

// NewReader returns a Reader whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor makes.
func NewReader(client rest.Interface, clk clock.PassiveClock) *Reader {
	return &Reader{client: client, clock: clk, known: &known{resolved: map[schema.GroupVersionKind]resolution{}}}
}

// get reads one object, or a document of discovery.
func (r *Reader) get(ctx context.Context, path string) ([]byte, error) {
	if err := object.CheckPath(path); err != nil {
		return nil, err
	}
	return r.read(ctx, r.request(path))
}
