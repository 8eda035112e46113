// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The child is a program that runs scripts and does nothing else. Tests need one that is built without the race
// detector, whose shadow memory does not go together with a limit on the address space.
package main

import "github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"

func main() { sandbox.Main() }
