// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Found collects the candidates of a Cleaner's selectors, each object once, in the order in which they were found.
type Found struct {
	// Candidates are what was found so far. Their bytes are without metadata.managedFields, which can be half of an object,
	// unless Whole is set.
	Candidates []object.Candidate
	Whole      bool
	// Aggregate, if not nil, takes the objects' bytes, for the script that looks at all of them together. The candidates are
	// then without.
	Aggregate *sandbox.Aggregate
	// Observer is told what happens while it happens.
	Observer Observer
	// Secrets are the candidates that are Secrets, with their bytes also where Candidates have none: to keep what is in them
	// out of the script's messages.
	Secrets []object.Object

	seen   map[types.UID]bool
	buffer []byte
	// bytes is how much the candidates' bytes take, and most, how much they may; zero is maxBytes.
	bytes, most int
}

// maxBytes is how much memory the objects that a run selects may take. Beyond it the operator would be ended, and with it all
// other runs.
const maxBytes = 256 << 20

// keep counts the bytes of a candidate that stays.
func (f *Found) keep(raw []byte) error {
	if f.bytes += len(raw); f.bytes > cmp.Or(f.most, maxBytes) {
		return fmt.Errorf("the first %d objects that match take more than %d MiB of memory: let the Cleaner select fewer at a time, by namespace, labelFilters or conditions",
			len(f.Candidates), cmp.Or(f.most, maxBytes)>>20)
	}
	return nil
}

func (f *Found) add(ctx context.Context, c object.Candidate) error {
	if f.seen[c.UID] {
		return nil
	}
	if f.seen == nil {
		f.seen = map[types.UID]bool{}
	}
	f.seen[c.UID] = true
	if f.Observer.Candidate != nil {
		f.Observer.Candidate(c)
	}
	switch {
	case f.Aggregate == nil && f.Whole:
		c.Object = c.Clone()
	case f.Aggregate == nil:
		f.buffer = object.AppendWithoutManagedFields(f.buffer[:0], c.Raw)
		c.Raw = bytes.Clone(f.buffer)
	default:
		if c.IsSecret() {
			f.Secrets = append(f.Secrets, c.Clone())
		}
		if err := f.Aggregate.Add(ctx, c.Object); err != nil {
			return err
		}
		c.Raw = nil
	}
	if err := f.keep(c.Raw); err != nil {
		return err
	}
	f.Candidates = append(f.Candidates, c)
	return nil
}

// truncate takes back what a list had found before it began anew.
func (f *Found) truncate(n int) {
	for _, c := range f.Candidates[n:] {
		delete(f.seen, c.UID)
		f.bytes -= len(c.Raw)
	}
	f.Candidates = f.Candidates[:n]
	if f.Aggregate != nil {
		f.Aggregate.Truncate(n)
	}
}
