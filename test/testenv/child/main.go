// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The child is the process that runs scripts, for tests: they are built with the race detector, whose shadow memory
// does not go together with a limit on the address space.
package main

import "github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"

func main() { sandbox.Main() }
