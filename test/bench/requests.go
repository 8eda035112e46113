// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// requests are how many requests the API server has answered, by verb and resource.
type requests map[string]int

// requestLabels finds what a request asked for in a line of the API server's metrics.
var requestLabels = regexp.MustCompile(`resource="([^"]*)".*subresource="([^"]*)".*verb="([^"]*)"`)

// countRequests counts by the API server's metrics. Watches, which go on, and leases, which others renew too, do not
// count.
func countRequests(metrics string) (requests, error) {
	counts := requests{}
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		labels := requestLabels.FindStringSubmatch(line)
		if labels == nil || labels[1] == "" || labels[1] == "leases" || labels[3] == "WATCH" {
			continue
		}
		fields := strings.Fields(line)
		n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return nil, fmt.Errorf("reading the API server's metrics: %w", err)
		}
		counts[strings.TrimSuffix(labels[3]+" "+labels[1]+"/"+labels[2], "/")] += int(n)
	}
	return counts, nil
}

// since says how many requests of each kind there were since, for each of n.
func (r requests) since(before requests, n int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		if more := r[kind] - before[kind]; more > n/50 {
			parts = append(parts, fmt.Sprintf("%.2f %s", float64(more)/float64(n), kind))
		}
	}
	return strings.Join(parts, ", ")
}

func (s server) requests(ctx context.Context) (requests, error) {
	metrics, err := s.client.Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return countRequests(string(metrics))
}
