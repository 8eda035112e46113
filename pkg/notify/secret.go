// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// ReadSecret reads a Secret with the rights of the account or, without one, with those of who asks. It is nil when
// there is none.
type ReadSecret func(ctx context.Context, secret object.Object, account *v1alpha1.ServiceAccountRef) (*object.Object,
	error)

// secretKind is the kind Secret.
var secretKind = object.Kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"),
	Resource:         "secrets",
	Namespaced:       true,
}

// send sends the message on a channel whose settings are in a Secret.
func (d *Delivery) send(ctx context.Context, notification v1alpha1.Notification, message Message) error {
	send := d.Sender.New(notification.Type)
	if send == nil {
		return &Error{
			Reason:    fmt.Sprintf("this version of the operator does not know the type %q", notification.Type),
			Permanent: true,
		}
	}
	ref, account := notification.NotificationRef, message.Run.Spec.ServiceAccountRef
	settings, err := ReadSettings(ctx, d.Secret, ref, account)
	if d.AccountRequired || account != nil {
		settings.Limited = ref.Namespace
	}
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w. %s", err, secretHint(ref, account))
	}
	if err != nil {
		return err
	}
	return send(ctx, settings, message)
}

// ReadSettings reads the Secret that a notification names, and no other. It is read with the rights of the Cleaner's
// ServiceAccount, if it names one: else who may write Cleaners could use every Secret that the operator may read.
func ReadSettings(
	ctx context.Context,
	read ReadSecret,
	ref *v1alpha1.NotificationRef,
	account *v1alpha1.ServiceAccountRef,
) (Settings, error) {
	switch {
	case ref == nil || ref.Namespace == "" || ref.Name == "":
		return Settings{}, &Error{Reason: "notificationRef must name a Secret, by namespace and name", Permanent: true}
	case ref.Kind != "" && ref.Kind != "Secret", ref.APIVersion != "" && ref.APIVersion != "v1":
		return Settings{}, &Error{
			Reason: fmt.Sprintf(
				"notificationRef must name a Secret (apiVersion v1, kind Secret), not a %s of %s",
				ref.Kind,
				ref.APIVersion,
			),
			Permanent: true,
		}
	}
	if err := errors.Join(apiserver.CheckSegment(ref.Namespace), apiserver.CheckSegment(ref.Name)); err != nil {
		return Settings{}, &Error{
			Reason: "notificationRef must name a Secret, by namespace and name: " + strings.ReplaceAll(
				err.Error(),
				"\n",
				"; ",
			),
			Permanent: true,
		}
	}
	name := ref.Namespace + "/" + ref.Name
	live, err := read(ctx, object.Object{Kind: secretKind, Namespace: ref.Namespace, Name: ref.Name}, account)
	switch {
	case err != nil:
		return Settings{}, fmt.Errorf("reading Secret %s: %w", name, err)
	case live == nil:
		return Settings{}, &Error{Reason: "there is no Secret " + name + ", which notificationRef names", Permanent: true}
	}
	var secret corev1.Secret
	if err := json.Unmarshal(live.Raw, &secret); err != nil {
		return Settings{}, &Error{
			Reason:    "Secret " + name + " could not be decoded",
			Permanent: true,
		} // the error may quote it
	}
	return Settings{Secret: name, Keys: secret.Data}, nil
}

// secretHint is the way out when the Secret may not be read.
func secretHint(ref *v1alpha1.NotificationRef, account *v1alpha1.ServiceAccountRef) string {
	reader := "the operator's ServiceAccount"
	if account != nil {
		reader = "ServiceAccount " + account.String()
	}
	return fmt.Sprintf(
		"Let %s get it: a Role in namespace %s with verb get, resource secrets and resourceNames [%s], and a RoleBinding",
		reader,
		ref.Namespace,
		ref.Name,
	)
}
