// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// eventReason is k8s-cleaner's.
	eventReason = "K8sCleaner"
	// eventParallel is how many Events are written at once.
	eventParallel = 8
	// eventTimeout bounds the writing of one Event.
	eventTimeout = 10 * time.Second
	// maxErrors is how many causes are told; the rest are counted.
	maxErrors = 3
)

// Event returns the channel that records one Event on each object that the run handled. controller and instance say who
// reports.
func Event(live client.Client, clk clock.PassiveClock, controller, instance string) Channel {
	return func(ctx context.Context, message Message) error {
		var handled []object.Outcome
		for _, outcome := range message.Outcomes {
			if outcome.Handled(message.Run.Spec.Action) {
				handled = append(handled, outcome)
			}
		}
		errs := make([]error, len(handled))
		now := clk.Now()
		workqueue.ParallelizeUntil(ctx, eventParallel, len(handled), func(i int) {
			defer func() {
				if p := recover(); p != nil { // it would end the process
					errs[i] = fmt.Errorf("a fault of KubeCleaner: %v", p)
				}
			}()
			event := eventFor(message, handled[i], now)
			event.Name = eventName(handled[i], now.UnixNano()+int64(i))
			event.ReportingController, event.ReportingInstance = controller, instance
			bounded, cancel := context.WithTimeout(ctx, eventTimeout)
			defer cancel()
			errs[i] = live.Create(bounded, event)
		})
		return summarize(errs, context.Cause(ctx))
	}
}

func eventFor(message Message, outcome object.Outcome, now time.Time) *eventsv1.Event {
	// An Event about a cluster-scoped object is in the namespace default, as those of Kubernetes are.
	namespace := cmp.Or(outcome.Namespace, metav1.NamespaceDefault)
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		EventTime:  metav1.NewMicroTime(now),
		Type:       corev1.EventTypeNormal,
		Reason:     eventReason,
		Action:     string(message.Run.Spec.Action),
		Regarding: corev1.ObjectReference{
			APIVersion: outcome.Kind.APIVersion(), Kind: outcome.Kind.Kind,
			Namespace: outcome.Namespace, Name: outcome.Name, UID: outcome.UID,
		},
		Related: &corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner", Name: message.Cleaner.Name, UID: message.Cleaner.UID,
		},
		Note: note(message, outcome),
	}
}

// eventName is unique in the run by its number. It begins with the object's name, if an Event may have that.
func eventName(outcome object.Outcome, number int64) string {
	name := v1alpha1.ShortName(outcome.Name, 200)
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = strings.ToLower(outcome.Kind.Kind)
	}
	return fmt.Sprintf("%s.%x", name, number)
}

// note says what happened to the object, in at most 1,024 bytes, which is what an Event takes.
func note(message Message, outcome object.Outcome) string {
	text := fmt.Sprintf("Cleaner %s: %s", message.Cleaner.Name, outcome.Result)
	if outcome.Message != "" {
		text += ": " + outcome.Message
	}
	return v1alpha1.Truncate(text, 1024)
}

// summarize joins the first causes and counts the rest.
func summarize(errs []error, cause error) error {
	told := []error{cause}
	failed := 0
	for _, err := range errs {
		if err == nil {
			continue
		}
		if failed++; failed <= maxErrors {
			told = append(told, err)
		}
	}
	if failed > maxErrors {
		told = append(told, fmt.Errorf("and %d more", failed-maxErrors))
	}
	return errors.Join(told...)
}
