// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs the Lua scripts of users in processes of their own: the same program, started again. The operator never
// runs a script itself, because nothing within a process stops a pattern that backtracks for hours, or a concatenation that
// takes all memory.
//
// A child has an empty environment, three pipes and no other descriptor. It has a limit on its address space, it dies with its
// parent, and it watches itself: when an object takes too long or too much memory, it says which one and ends. The parent trusts
// it in nothing. It takes identities from its own bytes, checks each answer, ends a child that is silent for too long, and
// judges the rest of the objects in a fresh one.
//
// A Pool bounds what all children may use together, a Session is one run's use of them, a Stream judges the objects of a list
// while it is read, and an Aggregate collects objects for a script that looks at all of them.
//
// On systems other than Linux a child is not contained as well: time is limited, and memory as far as the child's own watch
// sees it.
package sandbox
