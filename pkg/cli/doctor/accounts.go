// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// accountGone looks whether the account is there that a Cleaner names. Who deletes it may mean to end the Cleaner; but
// the operator impersonates a name, which needs no ServiceAccount.
func (p *patient) accountGone(ctx context.Context, c *v1alpha1.Cleaner) []Line {
	named := c.Spec.ServiceAccountRef
	if named == nil {
		return nil
	}
	object := ref("Cleaner", c.Name)
	switch err := p.readAccount(ctx, *named); {
	case apierrors.IsNotFound(err):
		message := fmt.Sprintf("ServiceAccount %s does not exist", named)
		then := "the Cleaner still acts"
		if c.IsSuspended() { // idle says that it does not act
			return []Line{{Status: Warn, Object: object, Message: message, WayOut: p.withoutAccount(c)}}
		}
		if meta.IsStatusConditionFalse(c.Status.Conditions, v1alpha1.ConditionReady) {
			then = "the Cleaner acts even without it, as soon as it is ready"
		}
		return []Line{{
			Status:  Warn,
			Object:  object,
			Message: message + ", and " + then + ": RBAC grants rights to the name",
			WayOut:  p.withoutAccount(c),
		}}
	case err != nil:
		return []Line{unread(object, "could not read whether ServiceAccount "+named.String()+" exists", err)}
	}
	return nil
}

// idle makes warnings of what suspended Cleaners lack: it keeps them from nothing before somebody resumes them.
func (p *patient) idle(lines []Line) []Line {
	for i := range p.cleaners {
		c := &p.cleaners[i]
		for j := range lines {
			if l := &lines[j]; c.IsSuspended() && l.Object == ref("Cleaner", c.Name) && l.Status != Unknown {
				l.Status, l.Message = Warn, "it is suspended, so it does not act now; but: "+l.Message
			}
		}
	}
	return lines
}

// withoutAccount is the way out for a Cleaner whose account is gone. When several name it, one line names them
// all, and a command that deletes one of them would look as if it were meant for all.
func (p *patient) withoutAccount(c *v1alpha1.Cleaner) string {
	named := *c.Spec.ServiceAccountRef
	users := 0
	for i := range p.cleaners {
		if ptr.Deref(p.cleaners[i].Spec.ServiceAccountRef, v1alpha1.ServiceAccountRef{}) == named {
			users++
		}
	}
	create := fmt.Sprintf("create it: kubectl -n %s create serviceaccount %s", named.Namespace, named.Name)
	if users > 1 {
		return create
	}
	return create + "; or, to end the Cleaner: kubectl delete cleaner " + c.Name
}

// itselfGone looks whether the operator's own account is there: RBAC grants rights to the name, so all rights may be
// there without it. Pods need the account itself.
func (p *patient) itselfGone(ctx context.Context, account v1alpha1.ServiceAccountRef) []Line {
	object := ref("ServiceAccount", account.Namespace, account.Name)
	switch err := p.readAccount(ctx, account); {
	case apierrors.IsNotFound(err):
		return []Line{{
			Status:  Fail,
			Object:  object,
			Message: "the operator's ServiceAccount does not exist: the API server takes no requests from its Pods, and no new one starts",
			WayOut: fmt.Sprintf("install KubeCleaner again (config/default, or the chart); then kubectl -n %s rollout restart %s %s",
				account.Namespace, strings.ToLower(p.deployment.Kind), p.deployment.Name),
		}}
	case err != nil:
		return []Line{unread(object, "could not read whether the operator's ServiceAccount exists", err)}
	}
	return nil
}

// readAccount is an error if the account does not exist.
func (p *patient) readAccount(ctx context.Context, account v1alpha1.ServiceAccountRef) error {
	var found metav1.PartialObjectMetadata
	return p.api.Read(ctx, "/api/v1/namespaces/"+account.Namespace+"/serviceaccounts/"+account.Name, &found)
}
