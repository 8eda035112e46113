// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestCrowd is of people who ask for more than their share.
func TestCrowd(t *testing.T) {
	c := newCrowd(2, 3)
	const ann, bob = "ann", "bob"
	wants := func(who string, text string) (leave func()) {
		t.Helper()
		leave, err := c.join(who)
		if text == "" {
			must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), text) || failureOf(err).Status != http.StatusTooManyRequests {
			t.Fatalf("the error is %v, not %s", err, text)
		}
		return leave
	}
	one, two := wants(ann, ""), wants(ann, "")
	wants(ann, "you have 2 requests")
	three := wants(bob, "")
	wants(bob, "too many people")
	one()
	four := wants(ann, "")
	for _, leave := range []func(){two, three, four} {
		leave()
	}
	if c.all != 0 || len(c.of) != 0 {
		t.Errorf("all have left, and %d remain: %v", c.all, c.of)
	}
}

// TestTokensOfOneAccount: they are of one person.
func TestTokensOfOneAccount(t *testing.T) {
	c := admin(t)
	in := namespace(t, c)
	tokens := []string{tokenOf(t, c, in)}
	var accounts corev1.ServiceAccountList
	must(t, c.List(t.Context(), &accounts, client.InNamespace(in)))
	another := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), &accounts.Items[0], another))
	tokens = append(tokens, another.Status.Token)
	if tokens[0] == tokens[1] {
		t.Fatal("it is the same token: this proves nothing")
	}
	s := New(Options{Mode: ModeToken, Cluster: env.Config, Now: time.Now})
	s.waiting = newCrowd(1, 3)
	for i, want := range []int{0, http.StatusTooManyRequests} {
		p, err := s.person(tokens[i])
		must(t, err)
		if _, err = s.enter(t.Context(), p); want == 0 && err != nil || want != 0 && (err == nil || failureOf(err).Status != want) {
			t.Errorf("token %d: %v", i, err)
		}
	}
}

// TestNobodyTakesRoom: somebody with a wrong token is refused while all room is taken, and does not wait for it.
func TestNobodyTakesRoom(t *testing.T) {
	s := New(Options{Mode: ModeToken, Cluster: env.Config, Now: time.Now})
	for range parallelHeavy {
		s.heavy <- struct{}{}
	}
	p, err := s.person("wrong")
	must(t, err)
	if _, err := s.enter(t.Context(), p); failureOf(err).Status != http.StatusUnauthorized {
		t.Errorf("the error is %v", err)
	}
	if s.waiting.all != 0 {
		t.Error("it is counted")
	}
	known, err := s.person(tokenOf(t, admin(t), namespace(t, admin(t))))
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the browser is gone")
	time.AfterFunc(50*time.Millisecond, func() { cancel(gone) })
	if _, err := s.enter(ctx, known); err == nil {
		t.Error("it did not wait")
	}
	if s.waiting.all != 0 {
		t.Error("it is still counted")
	}
}
