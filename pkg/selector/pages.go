// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

const (
	// largePage is how many objects one request lists where the server writes a list object by object (since Kubernetes
	// 1.33) and so needs no memory for all of it. The first page comes from the server's cache, each further one from
	// etcd: one large page costs the server half of what 40 small ones do. It takes seconds, far from the 60 that a
	// request may.
	largePage = 20_000
	// smallPage is how many on other servers.
	smallPage = 500
	// slowPage is how many are listed for who takes a while for each: the server waits for a minute, and no longer.
	slowPage = 100
	// largePagesSince is the minor version from which on servers are for large pages.
	largePagesSince = 33
)

// pageSize is how many objects to list with one request. A server that does not say its version gets small pages.
func (r *Reader) pageSize(ctx context.Context) int {
	r.mu.Lock()
	known := r.largePages
	r.mu.Unlock()
	if known == nil {
		body, err := r.get(ctx, "/version")
		if err != nil {
			return smallPage // asked again next time
		}
		large := isForLargePages(body)
		known = &large
		r.mu.Lock()
		r.largePages = known
		r.mu.Unlock()
	}
	if *known {
		return largePage
	}
	return smallPage
}

func isForLargePages(body []byte) bool {
	var info version.Info
	if json.Unmarshal(body, &info) != nil {
		return false
	}
	minor, err := strconv.Atoi(strings.TrimRight(info.Minor, "+")) // some vendors write "33+"
	return err == nil && info.Major == "1" && minor >= largePagesSince
}
