// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lua runs the Lua scripts of Cleaners: evaluate on one object, evaluate on many, and transform.
//
// A Program is a compiled script; a Session runs it on objects. The chunk runs anew for each object, in an environment
// of its own: neither globals nor changed libraries reach the next object. Scripts see the libraries that sandbox.go
// lists and nothing else, the clock stands still and random numbers depend on the seed and the object only.
//
// Objects are never decoded as a whole. They are lazy tables over the bytes that the API server sent: a field is found
// and decoded when the script reads it, and a table becomes a plain one, level by level, when the script writes to it
// or enumerates it. A script cannot see the difference: tests compare each result with that of an engine which decodes
// everything first. Aggregate reads a Collection, which holds bytes.
//
// What a script returns is never trusted. Aggregate answers with indices into its own input, and Transform with a merge
// patch of what the script changed, so that what it did not touch keeps its exact types and text.
//
// # What the deadline does not stop
//
// The time limits act between the instructions of a script. A single call of a native function runs to its end: pattern
// matching (string.find, match, gmatch and gsub can be quadratic and worse), string concatenation, table.concat and
// table.sort with a native comparison. Nor is memory limited, beyond the registry, the call stack and string.rep: a
// sparse index such as t[67108862]=1 allocates about 1 GiB at once, unless Contain was called. Only a process with
// limits of its own contains such scripts.
package lua
