// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
)

const (
	// parallelHeavy is how many scans, previews, restores and large records are worked on at once: they are what takes
	// memory. The others wait: heavyOfOne of a person, and heavyOfAll in all, with those that are worked on.
	parallelHeavy, heavyOfOne, heavyOfAll = 2, 8, 64
	// samplesOfOne is how many requests for sample notifications a person may have open, and samplesOfAll how many there
	// may be. They take no memory, but long when a service hangs.
	samplesOfOne, samplesOfAll = 1, 8
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

// join counts something that the person asks for, until leave is called. who is the same for all tokens of an account.
// It waits for nothing.
func (c *crowd) join(who string) (leave func(), err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.of[who] >= c.ofOne:
		return nil, failure(http.StatusTooManyRequests, "you have %d requests of this kind going on: wait for one of them", c.ofOne)
	case c.all >= c.ofAll:
		return nil, failure(http.StatusTooManyRequests, "too many people use this page at the moment: try again in a minute")
	}
	c.all++
	c.of[who]++
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.all--
		if c.of[who]--; c.of[who] == 0 {
			delete(c.of, who)
		}
	}, nil
}

// accountOf distinguishes people: somebody may have any number of tokens.
func accountOf(user authenticationv1.UserInfo) string { return user.UID + " " + user.Username }

// enter waits until there is room for something that takes memory. The caller calls leave if there is no error. Only
// whom the API server knows may wait: a person with a wrong token takes nobody's room.
func (s *Server) enter(ctx context.Context, p *person) (leave func(), err error) {
	left, err := s.join(ctx, s.waiting, p)
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

// join lets a person into a crowd, if the API server knows the person.
func (s *Server) join(ctx context.Context, into *crowd, p *person) (leave func(), err error) {
	who := ""
	if s.Mode == ModeToken {
		user, err := p.review(ctx)
		if err != nil {
			return nil, err
		}
		who = accountOf(user)
	}
	return into.join(who)
}
