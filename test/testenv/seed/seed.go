// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package seed says what random tests begin with.
package seed

import (
	"os"
	"strconv"
)

// Failed are seeds with which a test once failed. They are tried besides the one that is given.
var Failed = []uint64{1, 1795837638}

// New is the seed that the environment variable SEED gives: .ci/run takes a fresh one each time, and prints it. Without
// it, it is 1, so that tests do the same each time.
func New() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		return 1
	}
	return seed
}
