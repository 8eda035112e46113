// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
)

// Who reads as another account never gets a list of somebody else's, however many wait.
func TestAccountsAreNeverMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 5, each: 100 * time.Millisecond}, broadcast.New(clock.RealClock{})
		accounts := []string{"", "system:serviceaccount:a:cleaner", "system:serviceaccount:b:cleaner"}
		var group sync.WaitGroup
		leaves := make([]func(), 60)
		for i := range leaves { // before any reads: one that is alone does not wait for others
			leaves[i] = lists.Enter()
		}
		for i, leave := range leaves {
			account := accounts[i%len(accounts)]
			group.Go(func() {
				defer leave()
				seen, err := read(t.Context(), server.reader(t, account).Sharing(lists, account), everything)
				if err != nil || !seen.isWhole(5) || seen.account != account {
					t.Errorf("%q saw what %q sees: %v, %v", account, seen.account, seen.names, err)
				}
			})
		}
		group.Wait()
		if n := server.count(); n != len(accounts) {
			t.Errorf("%d requests, want one for each account", n)
		}
	})
}

// The error of a list that several hear names the list, once.
func TestErrorNamesTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 20, cutAlways: true}, broadcast.New(clock.RealClock{})
		for i, one := range atOnce(t, lists, 3, func(int) (*seen, error) {
			return read(t.Context(), server.reader(t, "").Sharing(lists, ""), everything)
		}) {
			const want = "listing ConfigMap (/api/v1/configmaps): item 11: the response ended in the middle of the list: unexpected EOF"
			if one.err == nil || !strings.HasPrefix(one.err.Error(), want) || strings.Count(one.err.Error(), "listing") != 1 {
				t.Errorf("%d: %v", i, one.err)
			}
		}
	})
}
