// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// limitRanges creates n LimitRanges in each namespace. No other test has any.
func (b *bench) limitRanges(n int, namespaces ...string) {
	b.t.Helper()
	b.together(n*len(namespaces), func(i int) client.Object {
		return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[i%len(namespaces)], Name: fmt.Sprintf("l-%d", i/len(namespaces))}}
	})
}

// rangeLists is how often each collection of LimitRanges was listed, and how often one was only counted.
type rangeLists struct {
	mu     sync.Mutex
	lists  map[string]int
	counts int
}

func (l *rangeLists) watch(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/limitranges"):
	case r.URL.Query().Get("limit") == "1":
		l.counts++
	default:
		l.lists[r.URL.Path]++
	}
	return nil, nil
}

// since begins anew.
func (l *rangeLists) since() (lists map[string]int, counts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lists, counts = l.lists, l.counts
	l.lists, l.counts = map[string]int{}, 0
	return lists, counts
}

// Where many namespaces are selected, their objects are read in one list of the whole cluster, if that is allowed and the cluster has few
// objects of the kind. Those of other namespaces are neither judged nor counted.
func TestManyNamespacesAreListedTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	team := fmt.Sprintf("team-%d", serial.Add(1))
	var selected, each []string
	for range 25 {
		selected = append(selected, b.newNamespace(map[string]string{"team": team}))
	}
	other := b.newNamespace(map[string]string{"team": "other-" + team})
	b.limitRanges(1, selected...)
	b.limitRanges(10, other)
	requests := &rangeLists{lists: map[string]int{}}
	b.requests.setMeddle(requests.watch)
	const together = "/api/v1/limitranges"
	want, apart := map[string]int{together: 1}, map[string]int{}
	for _, namespace := range selected {
		each = append(each, "LimitRange "+namespace+"/l-0")
		apart["/api/v1/namespaces/"+namespace+"/limitranges"] = 1
	}
	slices.Sort(each)
	ranges := func(c *v1alpha1.Cleaner) {
		selecting(kind("", "v1", "LimitRange", ""))(c)
		in("", "team="+team)(c)
	}
	check := func(t *testing.T, lists map[string]int, edit ...func(*v1alpha1.Cleaner)) {
		t.Helper()
		run := b.run(b.cleaner(v1alpha1.ActionScan, append([]func(*v1alpha1.Cleaner){ranges}, edit...)...))
		wantRun(t, run, v1alpha1.ReasonCompleted, "25 of 25 objects matched.")
		var got []string
		for _, o := range run.Status.Objects {
			got = append(got, o.Kind+" "+o.Namespace+"/"+o.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(each, got); diff != "" {
			t.Errorf("the objects (-want +got):\n%s", diff)
		}
		found, _ := requests.since()
		if diff := cmp.Diff(lists, found); diff != "" {
			t.Errorf("the lists (-want +got):\n%s", diff)
		}
	}
	t.Run("together", func(t *testing.T) { check(t, want) })
	t.Run("with a script", func(t *testing.T) { check(t, want, evaluate("function evaluate() return {matching = true} end")) })
	t.Run("with events, which are read namespace by namespace", func(t *testing.T) {
		check(t, apart, edited(func(s *v1alpha1.ResourceSelector) { s.IncludeEvents = ptr.To(true) }),
			evaluate("function evaluate() return {matching = #events == 0} end"))
	})
	t.Run("without the right to list all", func(t *testing.T) {
		account := b.account()
		b.allow(b.accountName(), "", may("namespaces", "list"))
		for _, namespace := range selected {
			b.allow(b.accountName(), namespace, may("limitranges", "list"))
		}
		check(t, apart, account)
	})
	t.Run("the limit is of the selected namespaces", func(t *testing.T) {
		run := b.run(b.cleaner(v1alpha1.ActionDelete, ranges, maxPercentage(99)))
		wantRun(t, run, v1alpha1.ReasonLimitExceeded, "100% of resources matched (max percentage 99%)")
		lists, counts := requests.since()
		if lists[together] != 2 || len(lists) != 1 || counts != 2 {
			t.Errorf("there were %v and %d counts", lists, counts)
		}
	})
	t.Run("when the list begins anew", func(t *testing.T) {
		b.answering("/limitranges", func(page int, r *http.Request, body []byte) *http.Response {
			if page == 2 { // the first one is the count
				return cutOff(r, body)
			}
			return answer(r, http.StatusOK, body)
		})
		defer b.requests.setMeddle(requests.watch)
		wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, ranges)), v1alpha1.ReasonCompleted, "25 of 25 objects matched.")
	})
	t.Run("with too many objects", func(t *testing.T) {
		b.limitRanges(50*25, b.newNamespace(nil))
		check(t, apart)
		wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete, ranges, maxPercentage(99))), v1alpha1.ReasonLimitExceeded, "100% of resources matched (max percentage 99%)")
		if lists, counts := requests.since(); len(lists) != 25 || counts != 27 {
			t.Errorf("there were %v and %d counts", lists, counts)
		}
	})
}

// Cleaners that are due together and select different namespaces may read one list of the whole cluster together. Each sees its own.
func TestCleanersOfManyNamespacesSeeTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var cleaners []*v1alpha1.Cleaner
	for i := range 3 {
		team := fmt.Sprintf("team-%d", serial.Add(1))
		for range 20 {
			namespace := b.newNamespace(map[string]string{"team": team})
			b.thing(corev1.SchemeGroupVersion.WithKind("ResourceQuota"), fmt.Sprintf("quota-of-%d", i), inNamespace(namespace, nil))
		}
		cleaners = append(cleaners, b.cleaner(v1alpha1.ActionScan, selecting(kind("", "v1", "ResourceQuota", "")), in("", "team="+team)))
	}
	runs, _ := b.dueTogether("/api/v1/resourcequotas", cleaners)
	for i, run := range runs {
		wantRun(t, run, v1alpha1.ReasonCompleted, "20 of 20 objects matched.")
		for _, o := range run.Status.Objects {
			if o.Name != fmt.Sprintf("quota-of-%d", i) {
				t.Errorf("Cleaner %d found %s/%s", i, o.Namespace, o.Name)
			}
		}
	}
}
