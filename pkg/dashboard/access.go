// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// call is a request to the API server, as its authorizer sees it.
type call = authorizationv1.ResourceAttributes

// ours is a call for one of our own kinds.
func ours(verb, resource, name string) call {
	return call{
		Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version, Verb: verb, Resource: resource,
		Name: name,
	}
}

// accessReviews is where one asks what one may do.
const accessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// may asks the API server whether the person may make all of the calls. What cannot be asked is not allowed.
func (p *person) may(ctx context.Context, calls ...call) Allowed {
	for _, c := range calls {
		var asked authorizationv1.SelfSubjectAccessReview
		asked.Spec.ResourceAttributes = &c
		asked.APIVersion, asked.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
		body, err := json.Marshal(asked)
		if err == nil {
			body, err = cluster.Send(ctx, p.api.Raw.Post().AbsPath(accessReviews).Body(body))
		}
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		switch {
		case err != nil:
			return Allowed{Missing: "not known: " + terminal.OneLine(err.Error())}
		case !asked.Status.Allowed:
			return Allowed{Missing: rightWords(c.Verb, c.Group, c.Resource, c.Namespace, c.Name)}
		}
	}
	return Allowed{Allowed: true}
}

// need is a right and the calls that it is.
type need struct {
	id, text string
	calls    []call
}

func (s *Server) needs(namespace string) []need {
	where := "of the whole cluster"
	if namespace != "" {
		where = "of namespace " + namespace
	}
	return []need{
		{RightCleanersRead, "see Cleaners", []call{ours("list", "cleaners", ""), ours("get", "cleaners", "")}},
		{RightCleanersCreate, "create Cleaners", []call{ours("create", "cleaners", "")}},
		{RightCleanersChange, "run, suspend and edit Cleaners", []call{
			ours("patch", "cleaners", ""),
			ours("update", "cleaners", ""),
		}},
		{RightPlansDecide, "approve and reject plans", decisions("")},
		{RightRunsRead, "see runs", []call{ours("list", "cleanerruns", ""), ours("get", "cleanerruns", "")}},
		{RightReportsRead, "see Reports", []call{ours("list", "reports", "")}},
		{
			RightCopiesRead, "read copies, to restore objects",
			[]call{{Verb: "get", Version: "v1", Resource: "secrets", Namespace: s.OperatorNamespace}},
		},
		{RightFindings, "read objects for findings " + where, []call{
			{Verb: "list", Version: "v1", Resource: "pods", Namespace: namespace},
			{Verb: "list", Version: "v1", Resource: "configmaps", Namespace: namespace},
		}},
		{RightNamespacesRead, "see the list of namespaces", []call{{Verb: "list", Version: "v1", Resource: "namespaces"}}},
	}
}

// rights asks for each need, several at once.
func (p *person) rights(ctx context.Context, needs []need) []Right {
	rights := make([]Right, len(needs))
	workqueue.ParallelizeUntil(context.WithoutCancel(ctx), 8, len(needs), func(i int) {
		rights[i] = Right{needs[i].id, needs[i].text, p.may(ctx, needs[i].calls...)}
	})
	return rights
}

func (s *Server) access(r *http.Request, p *person) (int, any, error) {
	namespace := r.URL.Query().Get("namespace")
	answer := Access{Namespace: namespace, Rights: p.rights(r.Context(), s.needs(namespace))}
	listable := slices.ContainsFunc(answer.Rights, func(right Right) bool {
		return right.ID == RightNamespacesRead && right.Allowed.Allowed
	})
	if listable {
		answer.Namespaces = []string{}
		err := eachOf[corev1.NamespaceList](r.Context(), p, "/api/v1/namespaces", manySmall, func(n *corev1.Namespace) {
			answer.Namespaces = append(answer.Namespaces, n.Name)
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return http.StatusOK, answer, nil
}
