// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// As makes what reads the cluster and what acts on it as a ServiceAccount.
type As func(account v1alpha1.ServiceAccountRef) (*selector.Reader, *action.Actor, error)

// Impersonate returns an As whose every request names the account to the API server, which then goes by the account's rights
// and not by the operator's. The requests share the operator's connections. config is of plain JSON to absolute paths.
func Impersonate(config *rest.Config, operator *http.Client, clk clock.PassiveClock) As {
	shared := operator.Transport
	if shared == nil {
		shared = http.DefaultTransport
	}
	return func(account v1alpha1.ServiceAccountRef) (*selector.Reader, *action.Actor, error) {
		// In the transport, so that no request can do without. Without groups, the API server adds those of the account.
		named := transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: account.Username()}, shared)
		client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: named, Timeout: operator.Timeout})
		if err != nil {
			return nil, nil, fmt.Errorf("making a client for ServiceAccount %s: %w", account, err)
		}
		return selector.NewReader(client, clk), action.NewActor(client), nil
	}
}

// identity is as whom a run reads and acts.
type identity struct {
	reader *selector.Reader
	actor  *action.Actor
}

// identity is that of the account or, without one, the operator's own.
func (r *Runner) identity(account *v1alpha1.ServiceAccountRef) (identity, error) {
	reader, actor, name := r.Reader, r.Actor, ""
	if account != nil {
		var err error
		if reader, actor, err = r.As(*account); err != nil {
			return identity{}, err
		}
		name = account.Username()
	}
	// Another operator has the run: nothing is sent for it any more.
	taken := func(err error) bool { return errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrGone) }
	who := identity{reader: reader.Sharing(r.Lists, name)}
	if actor != nil { // a preview has none
		who.actor = actor.ForRun(r.Clock, taken)
	}
	return who, nil
}

const accountRequired = "serviceAccountRef is missing, and the operator runs with --require-service-account: name the ServiceAccount as which the Cleaner reads and acts, " +
	"for example serviceAccountRef: {namespace: team-a, name: cleaner}. Where config/policy is applied, it must be one that you may impersonate."

// lacksAccount says why a Cleaner may not run as the operator. It is empty when the Cleaner may run.
func (r *Runner) lacksAccount(account *v1alpha1.ServiceAccountRef) string {
	if !r.RequireServiceAccount || account != nil {
		return ""
	}
	return accountRequired
}

// forbiddenHint is the way out of a refusal, which the API server worded.
func forbiddenHint(refusal string, account *v1alpha1.ServiceAccountRef) string {
	const operator = "Give the operator the right in the ClusterRole for what Cleaners may touch (config/rbac/cleaner_targets_role.yaml), or select less."
	switch {
	case account == nil:
		return operator
	case strings.Contains(refusal, " cannot impersonate"): // since Kubernetes 1.36 it may be: cannot impersonate-on:serviceaccount:list
		return "The operator may not act as ServiceAccount " + account.String() + ": apply config/policy, or bind its ClusterRole kubecleaner-impersonator to the operator's ServiceAccount."
	case strings.Contains(refusal, `"`+account.Username()+`" cannot `):
		return "Grant ServiceAccount " + account.String() + " the right: a Role with that verb and resource and a RoleBinding in the namespace, or a ClusterRole and a ClusterRoleBinding for the whole cluster; or select less."
	}
	return operator
}
