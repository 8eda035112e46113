// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// channels looks whether the Secrets of notifications and metrics exist and have what they must.
func (p *patient) channels(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	n := 0
	for i := range p.cleaners {
		c := &p.cleaners[i]
		for _, notification := range c.Spec.Notifications {
			if notification.Type.NeedsSecret() {
				n++
				lines = append(lines, p.channel(ctx, c, notification)...)
			}
		}
		for j, spec := range c.Spec.ResourcePolicySet.ResourceSelectors {
			if spec.WantsMetrics() && spec.MetricSource != nil && spec.MetricSource.SecretRef != nil {
				n++
				lines = append(lines, p.credentials(ctx, c, j, *spec.MetricSource.SecretRef)...)
			}
		}
		lines = append(lines, undelivered(c)...)
	}
	if n == 0 {
		return lines, "no Cleaner needs a Secret for a channel or metrics"
	}
	return lines, "the Secrets of channels and metrics exist"
}

// undelivered warns of a Cleaner whose notifications could not be delivered.
func undelivered(c *v1alpha1.Cleaner) []Line {
	delivered := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
	if delivered == nil || delivered.Status != metav1.ConditionFalse {
		return nil
	}
	return []Line{
		{
			Status:  Warn,
			Object:  ref("Cleaner", c.Name),
			Message: fmt.Sprintf("notifications of its last run are not delivered: %s: %s", delivered.Reason, delivered.Message),
			WayOut:  terminal.Program + " notify test " + c.Name,
		},
	}
}

// channel looks at the Secret of one notification.
func (p *patient) channel(ctx context.Context, c *v1alpha1.Cleaner, notification v1alpha1.Notification) []Line {
	where := fmt.Sprintf("notification %s", notification.Name)
	var failed error
	read := func(ctx context.Context, secret object.Object, _ *v1alpha1.ServiceAccountRef) (*object.Object, error) {
		found, err := p.reader.Object(ctx, secret.Kind, secret.Namespace, secret.Name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		failed = err
		return &found, err
	}
	settings, err := notify.ReadSettings(ctx, read, notification.NotificationRef, nil)
	if failed != nil {
		return []Line{unread(ref("Cleaner", c.Name), where+": its Secret could not be read", failed)}
	}
	if err == nil {
		err = notify.Check(notification.Type, settings)
	}
	if err == nil {
		return nil
	}
	return []Line{{
		Status: Fail, Object: ref("Cleaner", c.Name), Message: where + ": " + terminal.OneLine(err.Error()),
		WayOut: "correct the Secret, and try it: " + terminal.Program + " notify test " + c.Name,
	}}
}

// credentials looks whether the Secret of a source of metrics exists.
func (p *patient) credentials(ctx context.Context, c *v1alpha1.Cleaner, number int, secret v1alpha1.SecretRef) []Line {
	field := fmt.Sprintf("resourceSelectors[%d].metricSource.secretRef", number)
	return p.secretExists(ctx, ref("Cleaner", c.Name), field, secret.Namespace, secret.Name)
}

// secretExists reports a Secret that does not exist, or cannot be read.
func (p *patient) secretExists(ctx context.Context, object, field, namespace, name string) []Line {
	_, err := p.reader.Object(ctx, secretKind(), namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return []Line{
			{
				Status:  Fail,
				Object:  object,
				Message: fmt.Sprintf("%s: there is no Secret %s/%s", field, namespace, name),
				WayOut:  "create the Secret, or correct the name",
			},
		}
	case err != nil:
		return []Line{unread(object, field+": the Secret could not be read", err)}
	}
	return nil
}

func secretKind() object.Kind {
	return object.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"),
		Resource:         "secrets",
		Namespaced:       true,
	}
}
