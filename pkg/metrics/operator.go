// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func (m *Metrics) initOperator() {
	m.notifications = m.counter(
		"kubecleaner_notifications_total",
		"Attempts to deliver a notification, by the type of the channel and by the result: Delivered, Retrying (it is tried again) or Failed (it is given up).",
		"cleaner",
		"channel",
		"result",
	)
	m.copyFaults = m.counter("kubecleaner_snapshot_errors_total",
		"Runs that touched nothing, because the copies of their objects could not be written.", "cleaner")
	// Without labels, but vectors: a replica that does not lead has not looked, and so has no series.
	m.copies = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubecleaner_snapshots",
		Help: "Copies of objects that can be restored. The operator counts them every 10 minutes.",
	}, nil)
	m.schemaOutdated = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubecleaner_crds_outdated",
		Help: "1 while no Cleaner runs, because the API server does not keep all fields of Cleaners, or does not show which fields it keeps. Otherwise 0.",
	}, nil)
	m.actingStopped = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubecleaner_acting_stopped",
		Help: "1 while all deletes and changes are stopped (kubectl cleaner stop), and every Cleaner only reports. Otherwise 0.",
	}, nil)
	m.copyBytes = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubecleaner_snapshot_bytes",
		Help: "The compressed size of all copies of objects together. --max-copies-bytes is the limit.",
	}, nil)
}

// Notified counts an attempt to deliver a notification of a Cleaner, by the state that it left the notification in.
func (m *Metrics) Notified(cleaner string, channel v1alpha1.NotificationType, state v1alpha1.NotificationState) {
	result := string(state)
	if state == v1alpha1.NotificationPending {
		result = "Retrying"
	}
	m.of(cleaner, func() { m.notifications.WithLabelValues(cleaner, string(channel), result).Inc() })
}

// CopiesFailed counts a run whose copies could not be written.
func (m *Metrics) CopiesFailed(run *v1alpha1.CleanerRun) {
	name := run.Spec.Cleaner
	m.of(name, func() { m.copyFaults.WithLabelValues(name).Inc() })
}

// SchemaOutdated says whether fields of Cleaners may be lost, so that nothing runs.
func (m *Metrics) SchemaOutdated(outdated bool) {
	m.schemaOutdated.WithLabelValues().Set(number(outdated))
}

// ActingStopped says whether all acting is stopped.
func (m *Metrics) ActingStopped(stopped bool) {
	m.actingStopped.WithLabelValues().Set(number(stopped))
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// CopiesKept says how many copies there are, and how much they take.
func (m *Metrics) CopiesKept(objects, bytes int64) {
	m.copies.WithLabelValues().Set(float64(objects))
	m.copyBytes.WithLabelValues().Set(float64(bytes))
}
