// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// senderTo makes what sends as the operator would, with the flags that it shares with this command. apiServer is where
// the API server is, to which nothing is sent.
func (o *options) senderTo() (to func(apiServer string) *notify.Sender, err error) {
	authorities, err := notify.Authorities(o.caFile)
	if err != nil {
		return nil, terminal.Fail(codes.FileUnreadable, err, "")
	}
	var allowed egress.Hosts
	if err = allowed.Set(o.allowed); err != nil {
		return nil, terminal.Fail(codes.UsageWrong, fmt.Errorf("--allowed-notification-hosts: %w", err), "")
	}
	if o.page != "" && !egress.IsOrigin(o.page) {
		return nil, terminal.Fail(codes.UsageWrong, fmt.Errorf("--dashboard-url is %s; write an address such as https://cleaner.example.com, without a path", terminal.Quoted(o.page)), "")
	}
	return func(apiServer string) *notify.Sender {
		sender := notify.NewSender(authorities, http.ProxyFromEnvironment, egress.NewGuard(allowed, apiServer),
			clock.RealClock{})
		sender.Page = o.page
		return sender
	}, nil
}

func deliverSample(ctx context.Context, api *cluster.Client, sender *notify.Sender, n v1alpha1.Notification,
	message notify.Message,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	actor := action.NewActor(api.Raw).ForRun(clock.RealClock{}, func(error) bool { return false })
	read := func(ctx context.Context, secret object.Object, _ *v1alpha1.ServiceAccountRef) (*object.Object, error) {
		return actor.Live(ctx, secret)
	}
	settings, err := notify.ReadSettings(ctx, read, n.NotificationRef, nil)
	if err != nil {
		return err
	}
	if message.Cleaner.Spec.ServiceAccountRef != nil { // as the operator does it
		settings.Limited = n.NotificationRef.Namespace
	}
	send := sender.New(n.Type)
	if send == nil {
		return fmt.Errorf("this version does not know the type %q", n.Type)
	}
	return send(ctx, settings, message)
}

// sample is the record of a run that did not take place, and says so.
func sample(cleaner *v1alpha1.Cleaner, now time.Time) *v1alpha1.CleanerRun {
	at := metav1.NewTime(now)
	sample := &v1alpha1.CleanerRun{
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: cleaner.Name, CleanerUID: cleaner.UID, NominalTime: at,
			Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan,
		},
		Status: v1alpha1.CleanerRunStatus{
			Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, StartTime: &at, CompletionTime: &at,
			Message:   "This is a test of the notification: nothing was run, and there is no such object.",
			RunCounts: v1alpha1.RunCounts{Considered: 1, Matched: 1},
			Objects: []v1alpha1.ObjectOutcome{{
				APIVersion: "v1", Kind: "ConfigMap", Namespace: "example", Name: "example", Outcome: v1alpha1.OutcomeMatched,
				Message: "here is what a script says about an object",
			}},
		},
	}
	sample.Name, sample.UID = v1alpha1.RunName(cleaner.Name, now), uuid.NewUUID()
	return sample
}
