// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package mark

import (
	"regexp"
	"time"
)

// form is one key, and what its tool reads in it.
type form struct {
	dialect Dialect
	key     string
	isLabel bool
	// ofPods is true of what counts for Pods only.
	ofPods bool
	// mayBeEmpty is true when the tool takes an empty text for no mark.
	mayBeEmpty bool
	// after reads a duration after the creation. Nil when the key holds none.
	after func(string) (time.Duration, error)
	// layouts are the forms of a time. A time without a zone is in UTC.
	layouts []string
	// start is an annotation with the time that counts instead of the creation.
	start string
	// write says what to write, for messages.
	write string
}

// minutes is a time as kube-janitor reads it, and compact one that fits into a label.
const (
	minutes = "2006-01-02T15:04"
	compact = "2006-01-02T150405Z"
)

var forms = []form{
	{
		dialect: kubeCleaner, key: "cleaner/ttl", after: orForever(duration),
		write: "a duration such as 90m, 12h, 7d or 2w, or forever",
	},
	{
		dialect: kubeCleaner, key: "cleaner/expires", layouts: []string{time.RFC3339, minutes, time.DateOnly},
		write: "a date or a time such as 2026-03-01 or 2026-03-01T12:00:00Z",
	},
	{
		dialect: kubeJanitor, key: "janitor/ttl", mayBeEmpty: true, after: orForever(janitorTTL),
		write: "a number and one of s, m, h, d, w, such as 7d, or forever",
	},
	{
		dialect: kubeJanitor, key: "janitor/expires", mayBeEmpty: true, layouts: []string{
			"2006-01-02T15:04:05Z", minutes,
			time.DateOnly,
		},
		write: "2026-03-01T12:00:00Z, 2026-03-01T12:00 or 2026-03-01",
	},
	{
		dialect: k8sTTLController,
		key:     "k8s-ttl-controller.twin.sh/ttl",
		start:   "k8s-ttl-controller.twin.sh/refreshed-at",
		after:   orZero(duration),
		write:   "a duration such as 90m, 12h, 7d or 2w",
	},
	{
		dialect: kyverno,
		key:     "cleanup.kyverno.io/ttl",
		isLabel: true,
		after:   kyvernoTTL,
		layouts: []string{compact, time.DateOnly},
		write:   "a duration such as 10m, 2h, 4d or 1w, a date such as 2026-03-01, or a time such as 2026-03-01T120000Z",
	},
	{
		dialect: mayfly,
		key:     "mayfly.cloud.namecheap.com/expire",
		after:   goDuration,
		layouts: []string{time.RFC3339, time.DateOnly},
		write:   "a duration of hours, minutes and seconds such as 90m or 12h, or a date or time such as 2026-03-01 or 2026-03-01T12:00:00Z",
	},
	{
		// It stands in templates, so it counts for Pods that something owns.
		dialect: podReaper, key: "pod.kubernetes.io/lifetime", ofPods: true, after: positive(goDuration),
		write: "a duration of hours, minutes and seconds such as 90m or 12h, longer than 0",
	},
}

// The shape of each form of a time. Go's own parser takes more: an hour of one digit, and parts of a second where the
// form has none.
var shapes = map[string]func() *regexp.Regexp{
	time.RFC3339:           lazily(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$`),
	"2006-01-02T15:04:05Z": lazily(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$`),
	minutes:                lazily(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$`),
	compact:                lazily(`^\d{4}-\d{2}-\d{2}T\d{6}Z$`),
	time.DateOnly:          lazily(`^\d{4}-\d{2}-\d{2}$`),
}

func parseTime(layout, text string) (time.Time, bool) {
	if !shapes[layout]().MatchString(text) {
		return time.Time{}, false
	}
	at, err := time.Parse(layout, text)
	return at.UTC(), err == nil
}
