// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// secretKind is the kind Secret.
var secretKind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: "secrets", Namespaced: true}

// send tells the run on a channel whose settings are in a Secret.
func (r *Runner) send(ctx context.Context, notification v1alpha1.Notification, message notify.Message) error {
	send := r.Notify.New(notification.Type)
	if send == nil {
		return &notify.Error{Reason: fmt.Sprintf("this version of the operator does not know the type %q", notification.Type), Permanent: true}
	}
	settings, err := r.settings(ctx, notification.NotificationRef, message.Run.Spec.ServiceAccountRef)
	if err != nil {
		return err
	}
	return send(ctx, settings, message)
}

// settings reads the Secret that a notification names, and no other. It is read with the rights of the Cleaner's ServiceAccount, if it
// names one: else who may write Cleaners could use every Secret that the operator may read.
func (r *Runner) settings(ctx context.Context, ref *v1alpha1.NotificationRef, account *v1alpha1.ServiceAccountRef) (notify.Settings, error) {
	who, err := r.identity(account)
	if err != nil {
		return notify.Settings{}, err
	}
	settings, err := NotificationSettings(ctx, who.actor, ref)
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w. %s", err, secretHint(ref, account))
	}
	return settings, err
}

// NotificationSettings reads the Secret that a notification names, with the rights of the Actor.
func NotificationSettings(ctx context.Context, actor *action.Actor, ref *v1alpha1.NotificationRef) (notify.Settings, error) {
	switch {
	case ref == nil || ref.Namespace == "" || ref.Name == "":
		return notify.Settings{}, &notify.Error{Reason: "notificationRef must name a Secret, by namespace and name", Permanent: true}
	case ref.Kind != "" && ref.Kind != "Secret", ref.APIVersion != "" && ref.APIVersion != "v1":
		return notify.Settings{}, &notify.Error{Reason: fmt.Sprintf("notificationRef must name a Secret (apiVersion v1, kind Secret), not a %s of %s", ref.Kind, ref.APIVersion), Permanent: true}
	}
	name := ref.Namespace + "/" + ref.Name
	live, err := actor.Live(ctx, object.Object{Kind: secretKind, Namespace: ref.Namespace, Name: ref.Name})
	switch {
	case err != nil:
		return notify.Settings{}, fmt.Errorf("reading Secret %s: %w", name, err)
	case live == nil:
		return notify.Settings{}, &notify.Error{Reason: "there is no Secret " + name + ", which notificationRef names", Permanent: true}
	}
	var secret corev1.Secret
	if err := json.Unmarshal(live.Raw, &secret); err != nil {
		return notify.Settings{}, &notify.Error{Reason: "Secret " + name + " could not be decoded", Permanent: true} // the error may quote it
	}
	return notify.Settings{Secret: name, Keys: secret.Data}, nil
}

// secretHint is the way out when the Secret may not be read.
func secretHint(ref *v1alpha1.NotificationRef, account *v1alpha1.ServiceAccountRef) string {
	reader := "the operator's ServiceAccount"
	if account != nil {
		reader = "ServiceAccount " + account.String()
	}
	return fmt.Sprintf("Let %s get it: a Role in namespace %s with verb get, resource secrets and resourceNames [%s], and a RoleBinding", reader, ref.Namespace, ref.Name)
}
