// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package identity is as whom runs read and act: with the operator's own rights, or as the ServiceAccount that the
// Cleaner names.
package identity

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// Identities are as whom runs read and act.
type Identities struct {
	// Reader and Actor have the operator's own rights. A Cleaner that names a ServiceAccount reads and acts by the clients
	// that As makes.
	Reader *selector.Reader
	Actor  *action.Actor
	As     transport.As
	// Lists are those that runs read together. Nil when each run reads its own.
	Lists *broadcast.Lists
	Clock clock.PassiveClock
	// Required refuses the Cleaners that name no ServiceAccount.
	Required bool
}

// Identity is as whom one run reads and acts. Actor is nil in a preview.
type Identity struct {
	Reader *selector.Reader
	Actor  *action.Actor
}

// Of is the identity of the account or, without one, the operator's own.
func (i *Identities) Of(account *v1alpha1.ServiceAccountRef) (Identity, error) {
	reader, actor, name := i.Reader, i.Actor, ""
	if account != nil {
		client, err := i.As(*account)
		if err != nil {
			return Identity{}, err
		}
		reader, actor, name = selector.NewReader(client, i.Clock), action.NewActor(client), account.Username()
	}
	who := Identity{Reader: reader.Sharing(i.Lists, name)}
	if actor != nil { // a preview has none
		who.Actor = actor.ForRun(i.Clock, journal.IsTaken)
	}
	return who, nil
}

// OfRun is the identity for a run, which waits for an API server that is away.
func (i *Identities) OfRun(account *v1alpha1.ServiceAccountRef) (Identity, error) {
	who, err := i.Of(account)
	if err == nil {
		who.Reader = who.Reader.Patient()
	}
	return who, err
}

// Live reads one object as it is now, as the account. It is nil when there is none.
func (i *Identities) Live(
	ctx context.Context,
	o object.Object,
	account *v1alpha1.ServiceAccountRef,
) (*object.Object, error) {
	who, err := i.Of(account)
	if err != nil {
		return nil, err
	}
	return who.Actor.Live(ctx, o)
}

// MayActAs says why the operator may not act as the account. It is empty when the operator may. An error means that
// nobody knows.
func (i *Identities) MayActAs(ctx context.Context, account v1alpha1.ServiceAccountRef) (refusal string, err error) {
	client, err := i.As(account)
	if err != nil {
		return "", err
	}
	switch err := client.Get().AbsPath("/version").Do(ctx).Error(); {
	case err == nil:
		return "", nil
	case summary.Forbidden(err) && strings.Contains(err.Error(), " cannot impersonate"):
		return summary.Hint(err.Error(), &account) + " The API server says: " + summary.OneLine(err), nil
	case summary.Forbidden(err): // the account itself may not ask this: the operator was let through
		return "", nil
	default:
		return "", fmt.Errorf("asking the API server as ServiceAccount %s: %w", account, err)
	}
}

const accountRequired = "serviceAccountRef is missing, and the operator runs with --require-service-account: name the ServiceAccount as which the Cleaner reads and acts, " +
	"for example serviceAccountRef: {namespace: team-a, name: cleaner}. If the policies are installed (Helm value policies.enabled), it must be one that you may impersonate."

// Lacks says why a Cleaner may not run as the operator. It is empty when the Cleaner may run.
func (i *Identities) Lacks(account *v1alpha1.ServiceAccountRef) string {
	if !i.Required || account != nil {
		return ""
	}
	return accountRequired
}
