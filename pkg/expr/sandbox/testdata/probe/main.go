// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The probe is a parent that is its own child: it judges one object and prints what the script says.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func main() {
	sandbox.Main()
	pool := sandbox.New(sandbox.Config{Clock: clock.RealClock{}})
	session := pool.Open(sandbox.Options{ObjectTimeout: time.Hour})
	match, err := session.Evaluate(context.Background(), os.Args[1],
		object.Object{Raw: []byte(`{"metadata":{"uid":"u"}}`)})
	pool.Close()
	fmt.Println(match.Message, err)
}
