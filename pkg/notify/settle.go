// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// firstPause is how long to wait after the first failure. It doubles up to lastPause.
	firstPause, lastPause = 30 * time.Second, time.Hour
	// lastChance is how long before the end the last try comes, when a pause would last beyond it.
	lastChance = time.Minute
	// longestReason bounds what a record says of a failure, in bytes.
	longestReason = 1024
)

// Settle puts into an entry how an attempt went: delivered, given up, or to be tried again, and when.
func Settle(entry *v1alpha1.NotificationStatus, fault error, now time.Time, ended *metav1.Time) {
	entry.Attempts++
	entry.NextAttemptTime, entry.Message = nil, ""
	if fault == nil {
		entry.State = v1alpha1.NotificationDelivered
		return
	}
	entry.State = v1alpha1.NotificationFailed
	entry.Message = v1alpha1.Truncate(fault.Error(), longestReason)
	var failure *Error
	if errors.As(fault, &failure) && failure.Permanent {
		return
	}
	pause := lastPause
	if entry.Attempts < 8 { // 30 s, doubled seven times, is more than an hour
		pause = min(lastPause, firstPause<<(entry.Attempts-1))
	}
	pause = wait.Jitter(pause, 0.2)
	if failure != nil {
		pause = max(pause, failure.RetryAfter)
	}
	if ended != nil {
		pause = min(pause, ended.Add(v1alpha1.NotificationRetention-lastChance).Sub(now))
		if pause > 0 {
			entry.State = v1alpha1.NotificationPending
			entry.NextAttemptTime = &metav1.Time{Time: now.Add(pause)}
			return
		}
	}
	entry.Message = v1alpha1.Truncate("given up after a day: "+fault.Error(), longestReason)
}

// timeoutOf bounds a delivery.
func timeoutOf(kind v1alpha1.NotificationType) time.Duration {
	if kind == v1alpha1.NotificationEvent {
		return eventsTimeout
	}
	return sendTimeout
}
