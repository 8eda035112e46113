// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Linux takes the ports of connections, and of servers that ask for any port, from 32768 on. Below, a port that was
// free a moment ago is still free when the server binds it.
const (
	firstPort = 15000
	portCount = 15000
)

var ports struct {
	sync.Mutex

	given map[int]bool
}

// FreeAddress returns an address on loopback for a server that needs to know its port. It never returns one twice.
func FreeAddress(ctx context.Context) (string, error) {
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	var refused error
	for range 100 {
		port := firstPort + rand.IntN(portCount)
		if ports.given[port] {
			continue
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			refused = err
			continue
		}
		ports.given[port] = true
		return listener.Addr().String(), listener.Close()
	}
	return "", errors.Join(errors.New("no free port on loopback"), refused)
}
