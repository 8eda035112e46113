// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// newOutbox makes the queue of the notifications of runs, and hands it to the delivery.
func newOutbox(book *journal.Journal, live client.Client, delivery *notify.Delivery,
	reconciler *controllers.CleanerReconciler, facts *metrics.Metrics, clk clock.WithTicker,
) *notify.Outbox {
	outbox := &notify.Outbox{
		Run: book.Find, Cleaner: book.Cleaner, Client: live, Clock: clk,
		Deliver: deliver(delivery), Changed: reconciler.NotificationsChanged, Tried: facts.Notified,
	}
	delivery.Outbox = outbox.Notify
	return outbox
}

// newRunner adds to the config what reads, acts and sends.
func newRunner(config run.Config, live client.Client, connections *http.Client, plain *rest.Config,
	o *options,
) (*run.Runner, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host's name: %w", err)
	}
	raw, err := rest.RESTClientForConfigAndClient(plain, connections)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	authorities, err := notify.Authorities(o.notifyCAFile)
	if err != nil {
		return nil, err
	}
	clk, guarded := config.Clock, egress.NewGuard(o.notifyHosts, plain.Host)
	config.Reader, config.Actor = selector.NewReader(raw, clk), action.NewActor(raw)
	config.As, config.RequireServiceAccount = transport.Impersonate(plain, connections), o.requireAccount
	config.MaxActions, config.Namespace = o.maxActions, o.namespace
	config.Lists, config.Schemas = broadcast.New(clk), &cel.Schemas{}
	config.Memory = selector.NewBudget(int64(o.maxSelection))
	config.Client, config.Event = live, notify.Event(live, clk, reporter, reporter+"-"+hostname)
	config.Sender = notify.NewSender(authorities, http.ProxyFromEnvironment, guarded, clk)
	config.Sender.Page = o.dashboardURL
	config.Protection = guard.Protection{Operator: o.namespace, Namespaces: o.protected()}
	config.Queries = inputs.NewMetrics(authorities, o.metricHosts, plain.Host)
	return run.New(config), nil
}

func newJournal(live client.Client, clk clock.Clock, skew *transport.ClockSkew, o *options) *journal.Journal {
	book := journal.New(live, o.namespace, clk)
	book.Places = journal.Places{CopiesPath: o.copiesPath, S3Secret: o.s3Secret, MaxBytes: int64(o.maxCopies)}
	book.CheckClock = skew.Check
	return book
}

func newSweeper(book *journal.Journal, facts *metrics.Metrics, o *options) *controllers.Sweeper {
	return &controllers.Sweeper{
		Journal: book, Metrics: facts, Clock: clock.RealClock{}, MaxBytes: int64(o.maxCopies),
	}
}

// deliver names the Cleaner in the requests of a delivery.
func deliver(d *notify.Delivery) func(context.Context, notify.Message, v1alpha1.Notification) error {
	return func(ctx context.Context, message notify.Message, n v1alpha1.Notification) error {
		return d.Deliver(transport.ForCleaner(ctx, message.Run.Spec.Cleaner), message, n)
	}
}

// runFunc translates between the executor, which knows no runs, and the runner, which knows no executor.
func runFunc(runner *run.Runner, slimming *slimming, memory *scriptMemory,
	lighten func(name string),
) executor.RunFunc[controllers.Attempt] {
	return func(ctx context.Context, request executor.Request) (attempt controllers.Attempt, again *executor.Request) {
		defer slimming.run()()
		trigger := v1alpha1.TriggerSchedule // of an approved run, its Cleaner's status says so
		if request.Manual {
			trigger = v1alpha1.TriggerManual
		}
		outgrown := false
		record, err := runner.Run(ctx, run.Request{
			Cleaner: request.Name, UID: types.UID(request.Owner), Nominal: request.Nominal, Trigger: trigger,
			WhileSuspended: request.WhileSuspended, Spec: request.Spec, Account: request.Account,
			Memory: request.Weight, Outgrown: func() { outgrown = true }, Lighten: func() { lighten(request.Name) },
		})
		if err != nil {
			return controllers.Attempt{Err: err}, nil
		}
		if outgrown {
			request.Weight, request.Lane = memory.outgrown(record, request.Weight), executor.LaneSlow
			again = &request
		}
		return controllers.Attempt{Recorded: true}, again
	}
}
