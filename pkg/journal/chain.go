// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxPartBytes keeps the object that holds a part below 512 KiB, in base64 too.
	maxPartBytes = 360 << 10
	// fullPartBytes is from when on a part counts as full: the compressor holds some bytes back.
	fullPartBytes = 256 << 10
)

// errTooLarge says that what is to be written takes more bytes than it may.
var errTooLarge = errors.New("it is too large")

// budget is how many bytes the copies of a run may still take, wherever they are.
type budget struct{ left int64 }

func (b *budget) take(n int) error {
	if b == nil {
		return nil
	}
	if b.left -= int64(n); b.left < 0 {
		return errTooLarge
	}
	return nil
}

// chain writes entries as JSON lines, compressed, in parts. Each part is tied to the run, to its place and to all
// before it by a hash, so that the last hash, the head, proves all of them.
type chain struct {
	run    types.UID
	stream string
	// put keeps the n-th part, durably.
	put func(ctx context.Context, n int32, data []byte) error
	// budget is how many bytes there may be. Nil means any number.
	budget *budget

	buffer *bytes.Buffer
	zip    *gzip.Writer
	lines  *json.Encoder

	// pending is true when something was added since the last flush.
	pending bool
	parts   int32
	objects int64
	size    int64
	head    string
	// err is the first error. After one, nothing more is written: a part is missing.
	err error
}

func newChain(
	run types.UID,
	stream string,
	limit *budget,
	put func(ctx context.Context, n int32, data []byte) error,
) *chain {
	c := &chain{run: run, stream: stream, put: put, budget: limit, buffer: &bytes.Buffer{}}
	c.zip, _ = gzip.NewWriterLevel(c.buffer, gzip.BestSpeed)
	c.lines = json.NewEncoder(c.zip)
	c.lines.SetEscapeHTML(false) // an object's bytes stay as the API server sent them
	return c
}

// add writes an entry. It is durable when flush has returned.
func (c *chain) add(ctx context.Context, entry any) error {
	if c.err != nil {
		return c.err
	}
	c.pending = true
	if c.err = c.lines.Encode(entry); c.err != nil {
		return c.err
	}
	c.objects++
	if c.buffer.Len() < fullPartBytes {
		return nil
	}
	return c.flush(ctx)
}

// flush keeps what was added. An entry that is larger than a part goes into several. When nothing was added, it writes
// nothing: a part of copies says that there are copies.
func (c *chain) flush(ctx context.Context) error {
	if c.err == nil && c.pending {
		c.pending = false
		c.err = c.write(ctx)
	}
	return c.err
}

func (c *chain) write(ctx context.Context) error {
	if err := c.zip.Close(); err != nil {
		return err
	}
	for c.buffer.Len() > 0 {
		data := bytes.Clone(c.buffer.Next(maxPartBytes))
		if err := c.budget.take(len(data)); err != nil {
			return err
		}
		c.size += int64(len(data))
		if err := c.put(ctx, c.parts, data); err != nil {
			return err
		}
		c.head = link(c.head, c.run, c.stream, c.parts, data)
		c.parts++
	}
	c.zip.Reset(c.buffer)
	return nil
}

// link is the hash of a part and of all before it.
func link(before string, run types.UID, stream string, n int32, data []byte) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%s\n%d\n", before, run, stream, n)
	hash.Write(data)
	return hex.EncodeToString(hash.Sum(nil))
}

// getPart reads the n-th part of a stream.
type getPart func(ctx context.Context, n int32) ([]byte, error)

// readChain hands the decoded lines of a chain to each, after all of it was proved against the head.
func readChain(
	ctx context.Context,
	run types.UID,
	stream string,
	parts int32,
	head string,
	get getPart,
	each func(*json.Decoder) error,
) error {
	links := make([]string, parts)
	before := ""
	for n := range parts {
		data, err := get(ctx, n)
		if err != nil {
			return err
		}
		links[n] = link(before, run, stream, n, data)
		before = links[n]
	}
	if before != head {
		return fmt.Errorf(
			"the %s of the run are not what the run wrote: their hash is %q, and the CleanerRun says %q",
			stream,
			before,
			head,
		)
	}
	if parts == 0 {
		return nil
	}
	// Read again rather than kept: they may be large. Each part is proved once more.
	again := func(n int32) ([]byte, error) { return get(ctx, n) }
	zip, err := gzip.NewReader(&partReader{run: run, stream: stream, links: links, get: again})
	if err != nil {
		return fmt.Errorf("reading the %s of the run: %w", stream, err)
	}
	decoder := json.NewDecoder(zip)
	for {
		if err := each(decoder); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the %s of the run: %w", stream, err)
		}
	}
}

// partReader reads parts one after the other. Several gzip streams in a row are one to the reader of gzip.
type partReader struct {
	run    types.UID
	stream string
	links  []string
	get    func(n int32) ([]byte, error)

	n    int32
	rest []byte
}

func (r *partReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if int(r.n) == len(r.links) {
			return 0, io.EOF
		}
		data, err := r.get(r.n)
		if err != nil {
			return 0, err
		}
		before := ""
		if r.n > 0 {
			before = r.links[r.n-1]
		}
		if link(before, r.run, r.stream, r.n, data) != r.links[r.n] {
			return 0, fmt.Errorf("part %d changed while it was read", r.n)
		}
		r.rest = data
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
