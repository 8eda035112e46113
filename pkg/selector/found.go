// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	// Aggregate, if not nil, takes the objects, for the script that looks at all of them together. There are no candidates then,
	// but a Mark on each object.
	Aggregate *sandbox.Aggregate
	Marks     []Mark
	// Judge, if not nil, has the last look at each object that matches: nothing is kept of it but the verdict, and that in Verdicts.
	// There are no candidates then. Its object's bytes are valid only during the call.
	Judge    func(object.Candidate) object.Verdict
	Verdicts object.Verdicts
	// Observer is told what happens while it happens.
	Observer Observer
	// Secrets are the candidates that are Secrets, with their bytes also where Candidates have none: to keep what is in them
	// out of the script's messages.
	Secrets []object.Object
	// Memory is what all that is found may take, and the events that are looked at. Nil is a default.
	Memory *Share

	seen   map[[16]byte]struct{}
	buffer []byte
}

// Mark is what is known of an object that an aggregated script has.
type Mark struct {
	// Selector is the index of the selector that selected it, and Message what that one's script said.
	Selector int
	Message  string

	hash [16]byte
}

// markSize is about what such an object takes here and in the Aggregate.
const markSize = 330

// candidateSize is about what a candidate takes besides its own bytes (BenchmarkFound).
const candidateSize = 400

// seenSize is about what it takes to know an object again.
const seenSize = 24

// keep counts the bytes of what stays.
func (f *Found) keep(size int) error {
	if err := f.share().add(int64(size)); err != nil {
		return fmt.Errorf("the first %d objects that match are too many: %w", f.len()+1, err)
	}
	return nil
}

func (f *Found) share() *Share {
	if f.Memory == nil {
		f.Memory = (*Budget)(nil).Share()
	}
	return f.Memory
}

func (f *Found) add(ctx context.Context, c object.Candidate) error {
	hash := hashOf(c.UID)
	if !f.isNew(hash) {
		return nil
	}
	if f.Observer.Candidate != nil {
		f.Observer.Candidate(c)
	}
	switch {
	case f.Judge != nil:
		return f.judge(c)
	case f.Aggregate != nil:
		return f.collect(ctx, c, hash)
	case f.Whole:
		c.Object = c.Clone()
	default:
		f.buffer = object.AppendWithoutManagedFields(f.buffer[:0], c.Raw)
		c.Raw = bytes.Clone(f.buffer)
	}
	if err := f.keep(candidateSize + len(c.Raw)); err != nil {
		return err
	}
	f.Candidates = append(f.Candidates, c)
	return nil
}

// collect hands a candidate to the aggregated script.
func (f *Found) collect(ctx context.Context, c object.Candidate, hash [16]byte) error {
	size := seenSize + markSize + len(c.Message)
	if c.IsSecret() {
		f.Secrets = append(f.Secrets, c.Clone())
		size += len(c.Raw)
	}
	if err := f.Aggregate.Add(ctx, c.Object); err != nil {
		return err
	}
	f.Marks = append(f.Marks, Mark{c.Selector, c.Message, hash})
	return f.keep(size)
}

// judge keeps the verdict on a candidate, and nothing else of it.
func (f *Found) judge(c object.Candidate) error {
	f.buffer = object.AppendWithoutManagedFields(f.buffer[:0], c.Raw)
	c.Raw = f.buffer
	verdict, before := f.Judge(c), f.Verdicts.Bytes()
	f.Verdicts.Add(verdict)
	return f.keep(seenSize + f.Verdicts.Bytes() - before)
}

// isNew reports whether an object was not found before, by the hash of its UID: hashes are less than half as large.
func (f *Found) isNew(hash [16]byte) bool {
	if f.seen == nil {
		f.seen = map[[16]byte]struct{}{}
	}
	before := len(f.seen)
	f.seen[hash] = struct{}{}
	return len(f.seen) > before
}

// hashOf is as much of a cryptographic hash as a UID has.
func hashOf(uid types.UID) [16]byte {
	sum := sha256.Sum256([]byte(uid))
	return [16]byte(sum[:])
}

// len is how many objects were found.
func (f *Found) len() int { return len(f.Candidates) + len(f.Marks) + f.Verdicts.Len() }

func (f *Found) giveBack(size int) { _ = f.share().add(-int64(size)) } // less is always granted

// truncate takes back what a list had found before it began anew: all but the first n.
func (f *Found) truncate(n int) {
	if f.Judge != nil {
		for i, verdict := range f.Verdicts.All() {
			if i >= n {
				delete(f.seen, hashOf(verdict.UID))
			}
		}
		before := f.Verdicts.Bytes() + f.Verdicts.Len()*seenSize
		f.Verdicts.Truncate(n)
		f.giveBack(before - f.Verdicts.Bytes() - f.Verdicts.Len()*seenSize)
		return
	}
	if f.Aggregate != nil {
		for _, mark := range f.Marks[n:] {
			delete(f.seen, mark.hash)
			f.giveBack(seenSize + markSize + len(mark.Message)) // a Secret stays, and hides too much rather than too little
		}
		f.Marks = f.Marks[:n]
		f.Aggregate.Truncate(n)
		return
	}
	for _, c := range f.Candidates[n:] {
		delete(f.seen, hashOf(c.UID))
		f.giveBack(candidateSize + len(c.Raw))
	}
	f.Candidates = f.Candidates[:n]
}
