// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selector reads the cluster: it resolves kinds, lists objects page by page, proves that it saw all of them,
// and yields the ones that match as candidates. Whatever it could not read is an error, never an empty answer.
package selector

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
)

// Reader reads the cluster through one REST client.
type Reader struct {
	client rest.Interface
	clock  clock.PassiveClock
	*known
	// sharing, if any, lets the lists be read together with others who read as the same account.
	sharing *broadcast.Run
	account string
	// patient is whether to wait for an API server that is away.
	patient bool
	// onTrouble, if not nil, is called with why a request is sent again, and with nil when that is over.
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

// NewReader returns a Reader whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor
// makes.
func NewReader(client rest.Interface, clk clock.PassiveClock) *Reader {
	return &Reader{client: client, clock: clk, known: &known{resolved: map[schema.GroupVersionKind]resolution{}}}
}

// Sharing returns the Reader of one run, which reads its lists together with others who share the same Lists and
// account. The account is as whom the Reader's client reads: it must not be the same for two that may see different
// objects.
func (r *Reader) Sharing(lists *broadcast.Lists, account string) *Reader {
	shared := *r
	shared.sharing, shared.account = lists.Run(), account
	return &shared
}

// get reads one object, or a document of discovery.
func (r *Reader) get(ctx context.Context, path string) ([]byte, error) {
	if err := apiserver.CheckPath(path); err != nil {
		return nil, err
	}
	return r.read(ctx, r.request(path))
}
