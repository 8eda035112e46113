// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
)

// listAttempts is how often a list is begun before it is given up: when the server forgets its place (410 Gone), and
// when its answer breaks off although the pages are as small as they get.
const listAttempts = 3

// isTooLarge reports whether an answer may have been too much for the server or the network: it broke off, or took too
// long (504).
func isTooLarge(err error) bool {
	var tried *TriedError // a small page, often enough
	return !errors.As(err, &tried) && (errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsTimeout(err))
}

var errExpired = errors.New("the continue token of the list has expired (410)")

// query is what is asked of the server: the objects of one collection.
type query struct {
	kind object.Kind
	path string
	// labels is a label selector, which the server applies. Empty for all.
	labels string
	// fields is a field selector, in the same way.
	fields string
	// metadataOnly asks for the objects' metadata. The objects may come whole all the same.
	metadataOnly bool
	// brief asks for protobuf where we can read it.
	brief bool
	// slow is of who takes a while for each object: the pages are small, and nobody else waits for them.
	slow bool
}

// listKey says which lists are the same: those that ask for the same as the same account.
type listKey struct {
	account string
	query   query
}

// list hands every object of one collection to each, or fails. It calls restart when the list begins, and whenever it
// begins anew. The list may be one that is read for several runs.
func (r *Reader) list(ctx context.Context, q query, restart func() error, each func([]byte) error) error {
	if q.slow {
		return r.listAlone(ctx, q, restart, each)
	}
	source := func(ctx context.Context, hearer broadcast.Hearer) error {
		reader := *r
		if hearer.Trouble != nil {
			reader.onTrouble = func(tried *TriedError) {
				if tried == nil {
					hearer.Trouble(nil)
					return
				}
				hearer.Trouble(func(cause error) error { return tried.until(r.clock.Now(), cause) })
			}
		}
		return reader.readList(ctx, q, hearer.Restart, hearer.Each)
	}
	return q.describe(r.sharing.Read(ctx, listKey{r.account, q}, source, broadcast.Hearer{Restart: restart, Each: each}))
}

// listAlone is list, without others.
func (r *Reader) listAlone(ctx context.Context, q query, restart func() error, each func([]byte) error) error {
	return q.describe(r.readList(ctx, q, restart, each))
}

// readList reads a list. When the server forgot where the list was, or broke off, it begins anew, after a break with
// pages half as large.
func (r *Reader) readList(ctx context.Context, q query, restart func() error, each func([]byte) error) error {
	next := attempt{query: q, limit: r.pageSize(ctx), number: 1}
	if q.slow {
		next.limit = slowPage
	}
	var own error // of restart or each, which may look like one of the server's
	for {
		if own = restart(); own != nil {
			return own
		}
		err := r.listOnce(ctx, next.query, next.limit, func(raw []byte) error { own = each(raw); return own })
		if err == nil || own != nil || ctx.Err() != nil {
			return err
		}
		var again bool
		if next, again = next.after(err); !again {
			return err
		}
	}
}

// attempt is one attempt to read a list. Those that only ask in another way have no number of their own.
type attempt struct {
	query  query
	limit  int
	number int
}

// after is the attempt to make after an error, if another one can help.
func (a attempt) after(err error) (next attempt, again bool) {
	switch {
	case a.query.brief && isNoProtobuf(err):
		a.query.brief = false
	case a.query.metadataOnly && apierrors.IsNotAcceptable(err):
		a.query.metadataOnly = false
	case isTooLarge(err) && a.limit > smallPage:
		a.limit = max(smallPage, a.limit/2)
	case (isTooLarge(err) || errors.Is(err, errExpired)) && a.number < listAttempts:
		a.number++
	default:
		return a, false
	}
	return a, true
}

// isNoProtobuf reports whether the server has no protobuf, or one that we cannot read.
func isNoProtobuf(err error) bool {
	return apierrors.IsNotAcceptable(err) || errors.Is(err, apiserver.ErrProtobuf)
}

func (q query) describe(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("listing %s (%s): %w", q.kind.Kind, q.path, err)
}

func (r *Reader) listOnce(ctx context.Context, q query, limit int, each func([]byte) error) error {
	var first, token string
	for {
		meta, err := r.page(ctx, q, limit, token, each)
		if err != nil {
			return err
		}
		if first == "" {
			first = meta.ResourceVersion
		}
		if meta.ResourceVersion == "" || meta.ResourceVersion != first {
			return fmt.Errorf(
				"the list is not consistent: one page is of resource version %q, another of %q",
				first,
				meta.ResourceVersion,
			)
		}
		if meta.Continue == "" {
			return nil
		}
		if meta.Continue == token {
			return errors.New("the list has no end: the server repeats a page")
		}
		token = meta.Continue
	}
}

// page reads one page of a consistent list (no resourceVersion means the most recent one).
func (r *Reader) page(
	ctx context.Context,
	q query,
	limit int,
	token string,
	each func([]byte) error,
) (apiserver.ListMeta, error) {
	if err := apiserver.CheckPath(q.path); err != nil {
		return apiserver.ListMeta{}, err
	}
	accept, scan, err := q.format()
	if err != nil {
		return apiserver.ListMeta{}, err
	}
	request := r.request(q.path).Param("limit", strconv.Itoa(limit)).SetHeader("Accept", accept)
	if q.labels != "" {
		request = request.Param("labelSelector", q.labels)
	}
	if q.fields != "" {
		request = request.Param("fieldSelector", q.fields)
	}
	if token != "" {
		request = request.Param("continue", token)
	}
	var body io.ReadCloser
	worth := func(err error) bool { return mayPass(err) && (limit <= smallPage || !isTooLarge(err)) }
	err = r.persist(ctx, worth, func() (err error) { body, err = request.Stream(ctx); return err })
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return apiserver.ListMeta{}, fmt.Errorf("%w: %w", errExpired, err)
	}
	if err != nil {
		return apiserver.ListMeta{}, err
	}
	defer func() { _ = body.Close() }()
	return scan(body, each)
}
