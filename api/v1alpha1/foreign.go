// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// StatusManager is the field manager of the operator's writes to the status of Cleaners.
	StatusManager = "kubecleaner"
	// ForeignQuiet is how long a Cleaner waits after another controller wrote its status.
	ForeignQuiet = 2 * time.Minute
	// legacyManager is the field manager of k8s-cleaner, which is the name of its binary.
	legacyManager = "manager"
)

// ForeignController says why a Cleaner must not run: another controller, such as k8s-cleaner, wrote its status and may
// still act on the same objects. Empty when the Cleaner may run.
//
// The API server writes down in managedFields who wrote the status, and when. A write that is not older than the
// operator's last one is new: the operator writes the status only if it is still as the operator read it. The operator
// then writes the condition Ready, and the Cleaner waits to see whether the other controller writes again. If that
// happens in the same second, the order is not known, and the Cleaner waits once more.
func (c *Cleaner) ForeignController(now time.Time) string {
	foreign, own := c.lastWriters()
	switch {
	case foreign != nil && !timeOf(foreign).Before(timeOf(own)):
		return foreignWords(foreign, now)
	case c.waitsForForeign() && now.Sub(timeOf(own)) < ForeignQuiet:
		return c.ready().Message
	}
	return ""
}

// StatusWriters are the entries of managedFields that ForeignController needs, without their fields. Nil when it needs
// none. A cache of Cleaners keeps only these.
func (c *Cleaner) StatusWriters() []metav1.ManagedFieldsEntry {
	foreign, own := c.lastWriters()
	if foreign == nil && !c.waitsForForeign() {
		return nil
	}
	var kept []metav1.ManagedFieldsEntry
	for _, entry := range []*metav1.ManagedFieldsEntry{foreign, own} {
		if entry != nil {
			kept = append(
				kept,
				metav1.ManagedFieldsEntry{
					Manager:     entry.Manager,
					Operation:   entry.Operation,
					Subresource: entry.Subresource,
					Time:        entry.Time,
				},
			)
		}
	}
	return kept
}

// lastWriters are the last write of the status by another controller, and the operator's own. Nil when there is none.
func (c *Cleaner) lastWriters() (foreign, own *metav1.ManagedFieldsEntry) {
	for i := range c.ManagedFields {
		entry := &c.ManagedFields[i]
		last := &foreign
		if entry.Manager == StatusManager {
			last = &own
		}
		if entry.Subresource == "status" && (*last == nil || timeOf(entry).After(timeOf(*last))) {
			*last = entry
		}
	}
	return foreign, own
}

// timeOf is the time of a write. The zero time when there is none.
func timeOf(entry *metav1.ManagedFieldsEntry) time.Time {
	if entry == nil || entry.Time == nil {
		return time.Time{}
	}
	return entry.Time.Time
}

func (c *Cleaner) ready() *metav1.Condition {
	return meta.FindStatusCondition(c.Status.Conditions, ConditionReady)
}

// waitsForForeign reports whether the operator saw another controller, and waits to see whether it still runs.
func (c *Cleaner) waitsForForeign() bool {
	ready := c.ready()
	return ready != nil && ready.Reason == ReasonForeignController
}

// foreignWords name the other controller and the way out.
func foreignWords(foreign *metav1.ManagedFieldsEntry, now time.Time) string {
	who := fmt.Sprintf("another controller (field manager %q)", foreign.Manager)
	if foreign.Manager == legacyManager {
		who = fmt.Sprintf("k8s-cleaner (field manager %q)", foreign.Manager)
	}
	return fmt.Sprintf(
		"It does not run: %s wrote the status of this Cleaner at %s and may still act on the same objects. Remove that controller. The Cleaner continues by itself if only KubeCleaner writes its status until %s.",
		who,
		timeOf(foreign).UTC().Format(time.RFC3339),
		now.Add(ForeignQuiet).UTC().Format(time.RFC3339),
	)
}
