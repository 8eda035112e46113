// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs the Lua scripts of users in processes of their own: the same program, started again. The
// operator never runs a script itself, because nothing within a process stops a pattern that backtracks for hours, or a
// concatenation that takes all memory.
//
// A child has an empty environment, three pipes and no other descriptor. It has a limit on its address space, it dies
// with its parent, and it watches itself: when an object takes too long or too much memory, it says which one and ends.
// The parent trusts it in nothing. It takes identities from its own bytes, checks each answer, ends a child that is
// silent for too long, and judges the rest of the objects in a fresh one.
//
// A Pool starts children, a Session is one run's use of one, a Stream judges the objects of a list while it is read,
// and an Aggregate collects objects for a script that looks at all of them. A Session has a fixed amount of memory.
// What outgrows it fails with an OutgrownError, and may be tried again in a larger Session. How many Sessions there are
// at once is for the caller to say.
//
// On systems other than Linux a child is not contained as well: time is limited, and memory as far as the child's own
// watch sees it.
package sandbox
