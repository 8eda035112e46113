// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"sync"
)

const (
	// parallelHeavy is how many scans, previews, restores and large records are worked on at once: they are what takes
	// memory. The others wait: heavyOfOne of a person, and heavyOfAll in all, with those that are worked on.
	parallelHeavy, heavyOfOne, heavyOfAll = 2, 8, 64
	// streamsOfOne is how many streams of events a person may have open, and streamsOfAll how many there may be.
	streamsOfOne, streamsOfAll = 16, 256
)

// crowd bounds what people have going on at once, so that one of them cannot keep out the others for long.
type crowd struct {
	ofOne, ofAll int

	mutex sync.Mutex
	all   int
	of    map[string]int // by person; no zeros
}

func newCrowd(ofOne, ofAll int) *crowd {
	return &crowd{ofOne: ofOne, ofAll: ofAll, of: map[string]int{}}
}

// join counts something that the person asks for, until leave is called. It waits for nothing.
func (c *crowd) join(p *person) (leave func(), err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.of[p.key] >= c.ofOne:
		return nil, failure(http.StatusTooManyRequests, "you have %d requests of this kind going on: wait for one of them", c.ofOne)
	case c.all >= c.ofAll:
		return nil, failure(http.StatusTooManyRequests, "too many people use this page at the moment: try again in a minute")
	}
	c.all++
	c.of[p.key]++
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.all--
		if c.of[p.key]--; c.of[p.key] == 0 {
			delete(c.of, p.key)
		}
	}, nil
}

// enter waits until there is room for something that takes memory. The caller calls leave if there is no error. Only
// whom the API server knows may wait: a person with a wrong token takes nobody's room.
func (s *Server) enter(ctx context.Context, p *person) (leave func(), err error) {
	if s.Mode == ModeToken {
		if _, err := p.review(ctx); err != nil {
			return nil, err
		}
	}
	left, err := s.waiting.join(p)
	if err != nil {
		return nil, err
	}
	select {
	case s.heavy <- struct{}{}:
		return func() { <-s.heavy; left() }, nil
	case <-ctx.Done():
		left()
		return nil, context.Cause(ctx)
	}
}
