// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// unclear is one case.
type unclear struct {
	action v1alpha1.Action
	kind   faultproxy.Kind
	// blind is true when what is read of the object afterwards is struck too.
	blind bool
}

func (u unclear) String() string {
	return fmt.Sprintf("%s, %s, blind: %t", u.action, u.kind.Name, u.blind)
}

// Whatever the answer to a change says or does not say: the outcome is what became of the object, and it is counted once.
func TestOutcomeIsWhatBecameOfTheObject(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var cases []unclear
	for _, kind := range faultproxy.Kinds {
		if kind.Lists || kind.Pages {
			continue
		}
		for _, blind := range []bool{false, true} {
			cases = append(cases, unclear{v1alpha1.ActionDelete, kind, blind}, unclear{v1alpha1.ActionTransform, kind, blind})
		}
	}
	inParallel(t, s, cases, func(t *testing.T, namespace string, u unclear) {
		w := newWorld(t, s, namespace, u.action)
		for _, kind := range kinds {
			w.create(kind, "a", "")
		}
		runner, proxy := s.newRunner(t)
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
			switch {
			case c.Namespace != namespace || c.Nth > 1:
			case c.Verb == "delete", c.Verb == "patch", c.Verb == "get" && u.blind:
				return u.kind.Fault
			}
			return nil
		})
		_, _ = runner.Run(t.Context(), w.request())
		proxy.Wait()
		seen := w.check(t, "after the run")
		if len(seen.Records) != 1 {
			t.Fatalf("there are %d records", len(seen.Records))
		}
		record := seen.Records[0]
		if record.Run.Status.Copies.Dropped != "" {
			checkDropped(t, w, seen, u)
			return
		}
		if len(record.Intents) != 2 {
			t.Fatalf("the record has %d objects: %+v", len(record.Intents), record.Run.Status)
		}
		for i, intent := range record.Intents {
			done, outcome := seen.effect(intent.UID, w.before[intent.UID]) != "", record.Outcomes[i]
			later := u.kind.Name == "504 before applying" && outcome.Outcome == v1alpha1.OutcomeFailed
			if done == outcome.Outcome.IsFailure() && !later && !u.blind {
				t.Errorf("%s was touched: %t, and the outcome is %s (%s)", intent.Kind, done, outcome.Outcome, outcome.Reason)
			}
		}
	}, func() {})
}

// checkDropped checks a run whose copies are gone: only a refusal says that nothing was touched.
func checkDropped(t *testing.T, w *world, seen *World, u unclear) {
	t.Helper()
	if u.kind.Name != "403" {
		t.Errorf("the copies are gone")
	}
	if n := len(seen.Records[0].Run.Status.Objects); n != len(kinds) {
		t.Errorf("the record has %d objects, want %d", n, len(kinds))
	}
	for _, o := range seen.Records[0].Run.Status.Objects {
		if effect := seen.effect(o.UID, w.before[o.UID]); effect != "" || o.Outcome != v1alpha1.OutcomeFailed {
			t.Errorf("%s was %q, and the outcome is %s", o.Kind, effect, o.Outcome)
		}
	}
}

// When the record cannot say that the copies of a run that touched nothing are gone, they are there.
func TestCopiesStayUntilTheRecordSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
	for _, kind := range kinds {
		w.create(kind, "a", "")
	}
	runner, proxy := s.newRunner(t)
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
		if c.Namespace == w.namespace && c.Verb == "delete" || c.Resource == "cleanerruns" && c.Verb == "patch" {
			return faultproxy.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden)
		}
		return nil
	})
	_, _ = runner.Run(t.Context(), w.request())
	proxy.Wait()
	if record := w.check(t, "after the run").Records[0]; len(record.Intents) != len(kinds) || record.Run.Status.Copies.Dropped != "" {
		t.Errorf("the record has %d objects: %+v", len(record.Intents), record.Run.Status.Copies)
	}
}

// However the record cannot be read while the outcomes are saved: they are saved in the end.
func TestRecordThatCannotBeReadWhileActing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var cases []unclear
	for _, kind := range faultproxy.Kinds {
		if !kind.Lists && !kind.Pages {
			cases = append(cases, unclear{action: v1alpha1.ActionDelete, kind: kind})
		}
	}
	inParallel(t, s, cases, func(t *testing.T, namespace string, u unclear) {
		w := newWorld(t, s, namespace, u.action)
		for _, kind := range kinds {
			w.create(kind, "a", "")
		}
		runner, proxy := s.newRunner(t)
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
			if c.Resource == "cleanerruns" && c.Verb == "get" && c.Nth < 2 {
				return u.kind.Fault
			}
			return nil
		})
		_, _ = runner.Run(t.Context(), w.request())
		proxy.Wait()
		seen := w.check(t, "after the run")
		if n := len(seen.Records[0].Outcomes); n != len(kinds) {
			t.Errorf("%d outcomes were saved, want %d", n, len(kinds))
		}
	}, func() {})
}

// When it is not known whether the record says that the run is executing, nothing is touched; and it is told of each victim, wherever
// the record says so.
func TestBeginningThatIsNotKnown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, fault := range map[string]faultproxy.Fault{"written": faultproxy.CutAfter, "not written": faultproxy.Close} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
			for _, kind := range kinds {
				w.create(kind, "a", "")
			}
			runner, proxy := s.newRunner(t)
			tried := false
			proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
				switch {
				case c.Resource != "cleanerruns":
				case c.Verb == "update" && !tried:
					tried = true
					return fault
				case c.Verb == "get" && c.Nth == 0:
					return faultproxy.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError)
				}
				return nil
			})
			record, _ := runner.Run(t.Context(), w.request())
			if !strings.HasPrefix(record.Status.Message, "Nothing was touched: writing down what the run intends: it is not known whether the record was written") {
				t.Errorf("the run says %q", record.Status.Message)
			}
			seen := w.check(t, "after the run")
			for i := range seen.Records[0].Intents {
				if got := seen.Records[0].Outcomes[i].Outcome; got != v1alpha1.OutcomeNotActed {
					t.Errorf("the outcome is %q", got)
				}
			}
		})
	}
}
