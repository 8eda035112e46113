// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// losing loses the answers to the operator's requests of the method for the ConfigMap old: before is done first, the request goes on
// if applied, and after that, what the operator gets is lost.
func (b *bench) losing(method string, applied bool, before, after func(*bench), lost func(*http.Request) (*http.Response, error)) {
	b.t.Helper()
	web, err := rest.HTTPClientFor(env.Config)
	must(b.t, err)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != method || !strings.HasSuffix(r.URL.Path, "/configmaps/old") {
			return nil, nil
		}
		before(b)
		if applied {
			response, err := web.Transport.RoundTrip(r)
			if err != nil || response.StatusCode != http.StatusOK {
				b.t.Errorf("the API server did not do it: %v %v", response, err)
			}
			_ = response.Body.Close()
		}
		after(b)
		return lost(r)
	})
}

func nothing(*bench) {}

// cut is a connection that breaks instead of an answer.
func cut(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// refusedWith is an answer with an error, which the client is asked to try again.
func refusedWith(t *testing.T, status *apierrors.StatusError) func(*http.Request) (*http.Response, error) {
	status.ErrStatus.Kind, status.ErrStatus.APIVersion = "Status", "v1" // else its message is not read
	return func(r *http.Request) (*http.Response, error) {
		response := refusal(t, r, status)
		if details := status.ErrStatus.Details; details != nil && details.RetryAfterSeconds > 0 {
			response.Header.Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
		}
		return response, nil
	}
}

func faulty(t *testing.T) func(*http.Request) (*http.Response, error) {
	fault := apierrors.NewInternalError(errors.New("etcd is away"))
	fault.ErrStatus.Details.RetryAfterSeconds = 1 // client-go would send the request again
	return refusedWith(t, fault)
}

// tries is how often a change is sent of which a look at the object shows each time that it did not take place.
const tries = 4

// A change whose answer was lost is looked up, and sent again only if it did not take place.
func TestTransformWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	edited := update(func(cm *corev1.ConfigMap) { cm.Data["more"] = "1" })
	undone := update(func(cm *corev1.ConfigMap) { delete(cm.Data, "touched") })
	const unknown = "it is not known whether it was changed, because somebody else changed it too: "
	tests := map[string]struct {
		applied       bool
		before, after func(*bench)
		want          v1alpha1.OutcomeResult
		reason        string
	}{
		"it took place":                      {true, nothing, nothing, v1alpha1.OutcomeTransformed, ""},
		"it took place, and more was edited": {true, nothing, edited, v1alpha1.OutcomeTransformed, ""},
		"it took place, and was undone":      {true, nothing, undone, v1alpha1.OutcomeFailed, unknown},
		"it did not take place":              {false, nothing, nothing, v1alpha1.OutcomeFailed, ""},
		"somebody else edited it instead":    {false, edited, nothing, v1alpha1.OutcomeFailed, unknown},
		"somebody else deleted it":           {false, remove, nothing, v1alpha1.OutcomeGone, ""},
		"somebody else re-created it":        {false, func(b *bench) { b.recreate("old") }, nothing, v1alpha1.OutcomeReplaced, "it was created again under the same name"},
	}
	for name, test := range tests {
		for how, lost := range map[string]func(*http.Request) (*http.Response, error){"cut": cut, "500": faulty(t)} {
			t.Run(name+", "+how, func(t *testing.T) {
				b := newBench(t)
				b.configMap("old", stale)
				b.losing(http.MethodPatch, test.applied, test.before, test.after, lost)
				run := b.run(b.cleaner(v1alpha1.ActionTransform, evaluate(matchStale), transform(touch)))
				wantOutcome(t, run, "old", test.want, test.reason)
				if test.want == v1alpha1.OutcomeFailed {
					wantOutcome(t, run, "old", test.want, map[string]string{"cut": "unexpected EOF", "500": "etcd is away"}[how])
				}
				want := 1
				if name == "it did not take place" {
					want = tries
				}
				if n := b.requests.count(http.MethodPatch, "/old"); n != want {
					t.Fatalf("%d patches, want %d", n, want)
				}
			})
		}
	}
}

// Where it cannot be looked up either, the outcome says so.
func TestAnswerThatWasLostAndCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	for action, want := range map[v1alpha1.Action]string{
		v1alpha1.ActionDelete:    "it is not known whether it was deleted: ",
		v1alpha1.ActionTransform: "it is not known whether it was changed: ",
	} {
		t.Run(string(action), func(t *testing.T) {
			b := newBench(t)
			b.configMap("old", stale)
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/configmaps/old") {
					return cut(r)
				}
				return nil, nil
			})
			run := b.run(b.cleaner(action, transform(touch)))
			wantOutcome(t, run, "old", v1alpha1.OutcomeFailed, want, "unexpected EOF")
		})
	}
}

// A delete that a 5xx with Retry-After answers is looked up, and sent again only if it did not take place.
func TestDeleteIsLookedUpAfterAFault(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		applied bool
		want    v1alpha1.OutcomeResult
		reason  string
		deletes int
	}{
		"it took place":         {true, v1alpha1.OutcomeDeleted, "", 1},
		"it did not take place": {false, v1alpha1.OutcomeFailed, "etcd is away", tries},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("old")
			b.losing(http.MethodDelete, test.applied, nothing, nothing, faulty(t))
			wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionDelete)), "old", test.want, test.reason)
			if n := b.requests.count(http.MethodDelete, "/old"); n != test.deletes {
				t.Fatalf("%d deletes, want %d", n, test.deletes)
			}
		})
	}
}

// 429 has no effect: the server is asked again when it says. 5xx is tried again, a few times. 401, and a webhook that does not work,
// is a failure at once.
func TestServerWithoutTimeOrWithoutTrust(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status   *apierrors.StatusError
		refusals int
		requests int
		want     v1alpha1.OutcomeResult
		reason   string
	}{
		"429 once":            {apierrors.NewTooManyRequests("please wait", 1), 1, 2, v1alpha1.OutcomeDeleted, ""},
		"429 without a time":  {apierrors.NewTooManyRequests("please wait", 0), 1, 2, v1alpha1.OutcomeDeleted, ""},
		"401":                 {apierrors.NewUnauthorized("who are you"), 9, 1, v1alpha1.OutcomeFailed, "who are you"},
		"503":                 {apierrors.NewServiceUnavailable("starting up"), 9, tries, v1alpha1.OutcomeFailed, "starting up"},
		"503 once":            {apierrors.NewServiceUnavailable("starting up"), 1, 2, v1alpha1.OutcomeDeleted, ""},
		"504 with a time":     {apierrors.NewTimeoutError("too slow", 1), 9, tries, v1alpha1.OutcomeFailed, "too slow"},
		"a webhook":           {apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": connection refused`)), 9, 1, v1alpha1.OutcomeFailed, "failed calling webhook"},
		"422":                 {apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), "old", nil), 9, 1, v1alpha1.OutcomeFailed, "is invalid"},
		"403":                 {apierrors.NewForbidden(corev1.Resource("configmaps"), "old", errors.New(`User "me" cannot delete`)), 9, 1, v1alpha1.OutcomeFailed, "cannot delete"},
		"a conflict for ever": {apierrors.NewConflict(corev1.Resource("configmaps"), "old", errors.New("no")), 9, 3, v1alpha1.OutcomeConflict, "it kept changing; the next run judges it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			refused := 0
			answer := refusedWith(t, test.status)
			b.onConfigMaps(http.MethodDelete, func(r *http.Request) (*http.Response, error) {
				if refused++; refused > test.refusals {
					return nil, nil
				}
				return answer(r)
			})
			run := b.run(b.cleaner(v1alpha1.ActionDelete))
			wantOutcome(t, run, "old", test.want, test.reason)
			if n := b.requests.count(http.MethodDelete, "/old"); n != test.requests {
				t.Fatalf("%d deletes, want %d", n, test.requests)
			}
		})
	}
}

// A run that is stopped does not wait for a server that has no time.
func TestStopWhileTheServerHasNoTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	busy := refusedWith(t, apierrors.NewTooManyRequests("please wait", 15))
	b.onConfigMaps(http.MethodDelete, func(r *http.Request) (*http.Response, error) {
		stop(errors.New("the operator is stopping"))
		return busy(r)
	})
	run := b.runWith(ctx, b.cleaner(v1alpha1.ActionDelete))
	wantOutcome(t, run, "old", v1alpha1.OutcomeInterrupted, "the operator is stopping")
	if n := b.requests.count(http.MethodDelete, "/old"); n != 1 || !b.exists("old") {
		t.Fatalf("%d deletes, want 1", n)
	}
}

// late holds the first change of the ConfigMap old back, which its sender believes to be lost, until the second comes. The second is
// sent after it.
func (b *bench) late(method string) {
	b.t.Helper()
	web, err := rest.HTTPClientFor(env.Config)
	must(b.t, err)
	var first *http.Request
	b.onConfigMaps(method, func(r *http.Request) (*http.Response, error) {
		if first == nil {
			body, err := io.ReadAll(r.Body)
			must(b.t, err)
			first = r.Clone(context.WithoutCancel(r.Context()))
			first.Body = io.NopCloser(bytes.NewReader(body))
			return cut(r)
		}
		if first.Body != nil {
			response, err := web.Transport.RoundTrip(first)
			must(b.t, err)
			must(b.t, response.Body.Close())
			first.Body = nil
		}
		return nil, nil
	})
}

// A change that seemed lost, and comes after a look at the object did not show it, is carried out once, and is the operator's own.
func TestChangeThatComesLate(t *testing.T) {
	t.Parallel()
	t.Run("Delete", func(t *testing.T) {
		b := newBench(t)
		b.configMap("old")
		b.late(http.MethodDelete)
		wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionDelete)), "old", v1alpha1.OutcomeDeleted)
		if n := b.requests.count(http.MethodDelete, "/old"); n != 2 {
			t.Errorf("%d deletes, want 2", n)
		}
	})
	t.Run("Delete, and somebody creates another", func(t *testing.T) {
		b := newBench(t)
		b.configMap("old")
		b.late(http.MethodDelete)
		meddle := b.requests.meddle
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			response, err := meddle(r)
			if r.Method == http.MethodDelete && response == nil && err == nil && !b.exists("old") {
				b.configMap("old")
			}
			return response, err
		})
		wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionDelete)), "old", v1alpha1.OutcomeDeleted)
		if !b.exists("old") {
			t.Error("the new object was deleted")
		}
	})
	t.Run("Transform", func(t *testing.T) {
		b := newBench(t)
		b.configMap("old", update0)
		b.late(http.MethodPatch)
		count := `function transform() obj.data.n = tostring(tonumber(obj.data.n) + 1) return {resource = obj} end`
		wantOutcome(t, b.run(b.cleaner(v1alpha1.ActionTransform, transform(count))), "old", v1alpha1.OutcomeTransformed)
		if n := b.named("old").Data["n"]; n != "1" {
			t.Errorf("it was changed %s times", n)
		}
	})
}

func update0(cm *corev1.ConfigMap) { cm.Data = map[string]string{"n": "0"} }
