// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Matches collects what a Cleaner's selectors found matching, each object once, in the order in which they were found.
type Matches struct {
	// Verdicts are on what was found so far: to act, or that the object is protected by what it is itself. With Bodies,
	// the objects' bytes are without metadata.managedFields, which can be half of an object, unless Whole is set.
	Verdicts stage.Verdicts
	Whole    bool
	// Protect marks the verdict on an object that is protected by what it is itself. Nil marks none. Faults are its
	// errors, at most ten.
	Protect func(*stage.Verdict) error
	Faults  []error
	// Aggregate, if not nil, takes the objects, for the script that looks at all of them together. There are no Verdicts
	// then, but a Mark on each object.
	Aggregate *sandbox.Aggregate
	Marks     []Mark
	// Namespaces are those of the objects.
	Namespaces map[string]struct{}
	// Observer hears what happens while it happens.
	Observer Observer
	// Secrets are the values of the Secrets that the aggregated script was given, to keep them out of its messages. Nil if
	// there are none.
	Secrets *object.SecretValues
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
	// Excluded says that the script may look at the object, and not choose it.
	Excluded bool

	hash [16]byte
}

// markSize is about what such an object takes here and in the Aggregate.
const markSize = 330

// candidateSize is about what an object that could not be judged takes besides its error.
const candidateSize = 400

// maxFaults is how many errors of Protect are kept. One is enough to make the view incomplete.
const maxFaults = 10

// seenSize is about what it takes to know an object again.
const seenSize = 24

// keep counts the bytes of what stays.
func (f *Matches) keep(size int) error {
	if err := f.share().add(int64(size)); err != nil {
		return fmt.Errorf("not enough memory for the first %d objects that match: %w", f.len(), err)
	}
	return nil
}

func (f *Matches) share() *Share {
	if f.Memory == nil {
		f.Memory = (*Budget)(nil).Share()
	}
	return f.Memory
}

// add takes what a selector found. An excluded object is for an aggregated script to look at only.
func (f *Matches) add(ctx context.Context, c stage.Candidate, excluded bool) error {
	hash := hashOf(c.UID)
	if !f.isNew(hash) {
		if excluded || !c.Deleting {
			return nil
		}
		return f.include(c, hash)
	}
	if f.Observer.Candidate != nil && !excluded {
		f.Observer.Candidate(c)
	}
	if f.Namespaces == nil {
		f.Namespaces = map[string]struct{}{}
	}
	f.Namespaces[c.Namespace] = struct{}{}
	if f.Aggregate != nil {
		return f.collect(ctx, c, hash, excluded)
	}
	return f.judge(c)
}

// collect hands a candidate to the aggregated script.
func (f *Matches) collect(ctx context.Context, c stage.Candidate, hash [16]byte, excluded bool) error {
	size := seenSize + markSize + len(c.Message)
	if c.IsSecret() {
		size += f.hide(f.Aggregate.Given(c.Object))
	}
	if err := f.Aggregate.Add(ctx, c.Object); err != nil {
		return err
	}
	f.Marks = append(f.Marks, Mark{c.Selector, c.Message, excluded, hash})
	return f.keep(size)
}

// maxMessage is how long the texts are in which the values of Secrets are hidden: more is not kept of each. Messages
// and errors of scripts are 1 KiB long at most.
const maxMessage = 1536

// hide keeps what there is to hide of a Secret, and returns how much memory that takes.
func (f *Matches) hide(secret object.Object) int {
	if f.Secrets == nil {
		f.Secrets = object.NewSecretValues(maxMessage)
	}
	before := f.Secrets.Bytes()
	f.Secrets.Add(secret)
	return f.Secrets.Bytes() - before
}

// Mask hides the values of the Secrets in what the aggregated script says.
func (f *Matches) Mask() func(string) string {
	if f.Secrets == nil {
		return object.Masker()
	}
	return f.Secrets.Masker()
}

// include lets the script choose an object that is being deleted, which another selector excludes.
func (f *Matches) include(c stage.Candidate, hash [16]byte) error {
	i := slices.IndexFunc(f.Marks, func(m Mark) bool { return m.hash == hash && m.Excluded })
	if i < 0 {
		return nil
	}
	if f.Observer.Candidate != nil {
		f.Observer.Candidate(c)
	}
	size := len(c.Message) - len(f.Marks[i].Message)
	f.Marks[i] = Mark{c.Selector, c.Message, false, hash}
	return f.keep(size)
}

// judge keeps the verdict on a candidate, and as much of its bytes as is needed later.
func (f *Matches) judge(c stage.Candidate) error {
	if !f.Whole {
		f.buffer = object.AppendWithoutManagedFields(f.buffer[:0], c.Raw)
		c.Raw = f.buffer
	}
	verdict := stage.Verdict{Candidate: c, Act: true}
	if f.Protect != nil {
		if err := f.Protect(&verdict); err != nil && len(f.Faults) < maxFaults {
			f.Faults = append(f.Faults, err)
		}
	}
	if f.Verdicts.Bodies {
		verdict.Object = c.Clone()
	}
	before := f.Verdicts.Bytes()
	f.Verdicts.Add(verdict)
	return f.keep(seenSize + f.Verdicts.Bytes() - before)
}

// isNew reports whether an object was not found before, by the hash of its UID: hashes are less than half as large.
func (f *Matches) isNew(hash [16]byte) bool {
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
func (f *Matches) len() int { return len(f.Marks) + f.Verdicts.Len() }

func (f *Matches) giveBack(size int) { _ = f.share().add(-int64(size)) } // less is always granted

// truncate takes back what a list had found before it began anew: all but the first n.
func (f *Matches) truncate(n int) {
	if f.Aggregate != nil {
		for _, mark := range f.Marks[n:] {
			delete(f.seen, mark.hash)
			f.giveBack(seenSize + markSize + len(mark.Message)) // a Secret stays, and hides too much rather than too little
		}
		f.Marks = f.Marks[:n]
		f.Aggregate.Truncate(n)
		return
	}
	for i, verdict := range f.Verdicts.All() {
		if i >= n {
			delete(f.seen, hashOf(verdict.UID))
		}
	}
	before := f.Verdicts.Bytes() + f.Verdicts.Len()*seenSize
	f.Verdicts.Truncate(n)
	f.giveBack(before - f.Verdicts.Bytes() - f.Verdicts.Len()*seenSize)
}
