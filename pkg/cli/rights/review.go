// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"encoding/json"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// Reviewer asks the API server which rights accounts have. It remembers the answers.
type Reviewer struct {
	api   *cluster.Client
	known map[question]bool
}

type question struct {
	account v1alpha1.ServiceAccountRef
	Right
}

// NewReviewer returns one that knows nothing yet.
func NewReviewer(api *cluster.Client) *Reviewer {
	return &Reviewer{api: api, known: map[question]bool{}}
}

// Missing are those of the rights that the account does not have.
func (r *Reviewer) Missing(
	ctx context.Context,
	account v1alpha1.ServiceAccountRef,
	all []Right,
) (missing []Right, err error) {
	for _, right := range all {
		// Who may do it with everything needs no question for each kind.
		may, err := r.may(ctx, account, Right{Verb: right.Verb, Group: "*", Resource: "*"})
		if err == nil && !may {
			may, err = r.may(ctx, account, right)
		}
		if err != nil {
			return nil, err
		}
		if !may {
			missing = append(missing, right)
		}
	}
	return missing, nil
}

func (r *Reviewer) may(ctx context.Context, account v1alpha1.ServiceAccountRef, right Right) (bool, error) {
	right.Why, right.Optional = "", false
	asked := question{account, right}
	if may, known := r.known[asked]; known {
		return may, nil
	}
	review := authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: account.Username(),
			Groups: []string{
				"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated",
			},
			ResourceAttributes: attributes(right),
		},
	}
	err := post(ctx, r.api, "subjectaccessreviews", &review)
	if err != nil {
		return false, err
	}
	r.known[asked] = review.Status.Allowed
	return review.Status.Allowed, nil
}

// MayI reports whether who asks has a right.
func MayI(ctx context.Context, api *cluster.Client, right Right) (bool, error) {
	review := authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes(right)},
	}
	err := post(ctx, api, "selfsubjectaccessreviews", &review)
	return err == nil && review.Status.Allowed, err
}

func attributes(right Right) *authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(right.Resource, "/")
	return &authorizationv1.ResourceAttributes{
		Verb:        right.Verb,
		Group:       right.Group,
		Resource:    resource,
		Subresource: subresource,
		Namespace:   right.Namespace,
		Name:        right.Name,
	}
}

// post sends a review, and reads the answer into it.
func post(ctx context.Context, api *cluster.Client, resource string, review any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	answer, err := cluster.Send(ctx, api.Raw.Post().AbsPath("/apis/authorization.k8s.io/v1/"+resource).Body(body))
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, review)
}
