// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
	"github.com/kubecleaner/kubecleaner/pkg/validate"
)

// Config is what New divides among the stages; their fields say what it is for.
type Config struct {
	// Namespace is the operator's own.
	Namespace             string
	Client                client.Reader
	Reader                *selector.Reader
	Actor                 *action.Actor
	As                    transport.As
	Journal               *journal.Journal
	Metrics               *metrics.Metrics
	Lists                 *broadcast.Lists
	Schemas               *cel.Schemas
	Memory                *selector.Budget
	Event                 notify.Channel
	Sender                *notify.Sender
	Protection            guard.Protection
	Queries               *inputs.Metrics
	Scripts               *sandbox.Pool
	Clock                 clock.WithTickerAndDelayedExecution
	CheckClock            func() error
	CheckSchema           CheckSchema
	Stop                  *stop.Switch
	RequireServiceAccount bool
	MaxActions            int
	Stopping              error
}

// New returns a Runner whose stages have what they use. It does not deliver anything but Reports yet: its Delivery
// needs an Outbox.
func New(c Config) *Runner {
	identities := &identity.Identities{
		Reader:   c.Reader,
		Actor:    c.Actor,
		As:       c.As,
		Lists:    c.Lists,
		Clock:    c.Clock,
		Required: c.RequireServiceAccount,
	}
	operator, denials := c.Reader.Patient(), &action.Denials{}
	guarded := survey.Protected{Protection: c.Protection, Operator: operator}
	r := &Runner{
		Begin: Begin{Client: c.Client, Journal: c.Journal, Clock: c.Clock, CheckSchema: c.CheckSchema, Stop: c.Stop},
		Check: Check{Memory: c.Memory, Validator: validate.Validator{
			Identities: identities, Scripts: c.Scripts, Schemas: c.Schemas, Queries: c.Queries,
			CopyProblems: c.Journal.CopyProblems, Clock: c.Clock,
		}},
		Read: Read{
			Protected:  guarded,
			Counts:     c.Journal.Counts,
			CheckClock: c.CheckClock,
			Denials:    denials,
			Clock:      c.Clock,
			Survey:     func(ctx context.Context, o *survey.Options) error { return o.Declare(ctx, operator, c.Namespace) },
			Learned:    &survey.Schemas{},
		},
		Judge: Judge{Protection: c.Protection, MaxActions: c.MaxActions},
		Act: Act{
			Protected:  guarded,
			MaxActions: c.MaxActions,
			Denials:    denials,
			Stop:       c.Stop,
			Clock:      c.Clock,
			Stopping:   c.Stopping,
		},
		Record: Record{
			Journal:     c.Journal,
			Metrics:     c.Metrics,
			Clock:       c.Clock,
			CheckSchema: c.CheckSchema,
			Stop:        c.Stop,
			Lacks:       identities.Lacks,
			Stopping:    c.Stopping,
		},
	}
	r.Delivery = &notify.Delivery{
		Report: c.Journal.WriteReport, Save: c.Journal.SaveEnded, Event: c.Event, Sender: c.Sender, Secret: identities.Live,
		AccountRequired: c.RequireServiceAccount, Runs: c.Journal.Runs, Tried: c.Metrics.Notified, Clock: c.Clock,
	}
	return r
}
