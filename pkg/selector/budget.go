// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"sync"
)

const (
	// DefaultMaxMemory is how much memory what runs select may take, in bytes. Beyond it the operator would be ended, and
	// with it all runs.
	DefaultMaxMemory = 256 << 20
	// ownMemory is how much each run may take in any case, in bytes: few are large, and those must not stop the others.
	ownMemory = 1 << 20
)

// Budget bounds how much memory what is selected may take, all runs together. It is safe for concurrent use. Nobody
// waits for memory: those who wait would hold what they have, and could wait for each other.
type Budget struct {
	size int64
	mu   sync.Mutex
	used int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(size int64) *Budget { return &Budget{size: size} }

// Share begins to count what one run takes. Of no budget it is the default, which the run has for itself.
func (b *Budget) Share() *Share {
	if b == nil {
		return &Share{budget: NewBudget(DefaultMaxMemory), alone: true}
	}
	return &Share{budget: b}
}

// Share is what one run takes of a budget. It is for one goroutine.
type Share struct {
	budget *Budget
	// alone is true when no flag says how large the budget is, and no other run has a part in it.
	alone bool
	bytes int64
}

// Choose takes what an object takes that an aggregated script chose: it comes back with its bytes, and is the
// number-th.
func (s *Share) Choose(number, bytes int) error {
	if err := s.add(int64(candidateSize + bytes)); err != nil {
		return fmt.Errorf("not enough memory for the first %d objects that it chose: %w", number, err)
	}
	return nil
}

// Take takes what stays besides the candidates themselves.
func (s *Share) Take(bytes int) error { return s.add(int64(bytes)) }

// Patch takes what is kept of a patch until it is sent: the number-th of the run.
func (s *Share) Patch(number, bytes int) error {
	if err := s.add(int64(bytes)); err != nil {
		return fmt.Errorf("not enough memory for the patches of the first %d objects: %w", number, err)
	}
	return nil
}

// actedOnSize is what a run keeps of each object that it touches, besides what it selected: its names, its outcome, of
// which there are several at times, and its places in the intent and in the record. In bytes, from the sizes of these.
const actedOnSize = 1000

// Act takes what a run keeps of so many objects while it touches them.
func (s *Share) Act(number int64) error {
	if err := s.add(actedOnSize * number); err != nil {
		return fmt.Errorf("not enough memory for the %d objects that it would touch: %w", number, err)
	}
	return nil
}

// Intent takes what a run that was taken over keeps of an object that it was going to touch: the number-th.
func (s *Share) Intent(number, bytes int) error {
	if err := s.add(int64(candidateSize + bytes)); err != nil {
		return fmt.Errorf("not enough memory for the first %d objects that it was going to touch: %w", number, err)
	}
	return nil
}

// Taken is how many bytes it has taken.
func (s *Share) Taken() int64 { return s.bytes }

// GiveBack takes fewer bytes from now on.
func (s *Share) GiveBack(bytes int64) { _ = s.add(-bytes) } // less is always granted

// Again reads something once more: what the reading before took is given back first. taken is what it took.
func (s *Share) Again(taken *int64, read func() error) error {
	s.GiveBack(*taken)
	before := s.Taken()
	err := read()
	*taken = s.Taken() - before
	return err
}

// add takes some bytes more, or fewer when they are negative. The error says who has the memory, and what to do;
// nothing is taken then.
func (s *Share) add(bytes int64) error {
	before, after := max(0, s.bytes-ownMemory), max(0, s.bytes+bytes-ownMemory)
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if after > before && b.used+after-before > b.size {
		return s.tooMuch(after)
	}
	b.used += after - before
	s.bytes += bytes
	return nil
}

// MemoryError says that a run would take more memory than it may.
type MemoryError struct{ text string }

// Error implements error.
func (e *MemoryError) Error() string { return e.text }

func (s *Share) tooMuch(wanted int64) error { return &MemoryError{s.whoHasIt(wanted)} }

func (s *Share) whoHasIt(wanted int64) string {
	const fewer = "let the Cleaner select fewer objects (with namespace, labelFilters or matchConditions), or write several Cleaners"
	most := s.budget.size >> 20
	switch {
	case s.alone:
		return fmt.Sprintf("they take more than %d MiB of memory: %s", most, fewer)
	case wanted > s.budget.size:
		return fmt.Sprintf("they take more than %d MiB of memory: %s, or raise --max-selection-memory", most, fewer)
	}
	return fmt.Sprintf(
		"they take %d MiB of memory, and with what other runs have selected that is more than the %d MiB of --max-selection-memory: %s, or let fewer large Cleaners run at once, or raise the flag",
		(wanted+ownMemory)>>20,
		most,
		fewer,
	)
}

// Release gives everything back.
func (s *Share) Release() { _ = s.add(-s.bytes) }
