// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// mark is an annotation, or a label, that says when the time of an object is over.
type mark struct {
	key     string
	isLabel bool
	// after reads how long after its creation, and at when. A mark may have both.
	after func(string) (time.Duration, error)
	at    func(string) (time.Time, error)
	// from is an annotation with the time that counts instead of the creation.
	from string
}

// podLifetime is pod-reaper's: it stands in templates, so it counts for Pods that something owns.
const podLifetime = "pod.kubernetes.io/lifetime"

// marks are ours and those of our neighbours.
var marks = []mark{
	{key: "cleaner/ttl", after: duration},
	{key: "cleaner/expires", at: date},
	{key: "janitor/ttl", after: janitorTTL},
	{key: "janitor/expires", at: date},
	{key: "k8s-ttl-controller.twin.sh/ttl", after: duration, from: "k8s-ttl-controller.twin.sh/refreshed-at"},
	{key: "cleanup.kyverno.io/ttl", isLabel: true, after: duration, at: date},
	{key: "mayfly.cloud.namecheap.com/expire", after: duration, at: date},
	{key: podLifetime, after: goDuration},
}

var errForever = errors.New("forever")

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

var (
	dayForm      = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)(d|w)`)
	durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$`)
	janitorForm  = regexp.MustCompile(`^([0-9]+)([smhdw])$`)
)

// duration reads what Go does, and days and weeks.
func duration(text string) (time.Duration, error) {
	if text == "forever" {
		return 0, errForever
	}
	if !durationForm.MatchString(text) {
		return 0, errors.New("not a duration")
	}
	var total time.Duration
	for _, part := range dayForm.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, err
		}
		if total += time.Duration(n * float64(units[part[2]])); n > longestDays || total < 0 {
			return 0, errors.New("too long")
		}
	}
	rest := dayForm.ReplaceAllString(text, "")
	if rest == "" {
		return total, nil
	}
	more, err := time.ParseDuration(rest)
	if total += more; err == nil && total < 0 {
		return 0, errors.New("too long")
	}
	return total, err
}

// longestDays keeps sums from running over: a duration is at most 292 years.
const longestDays = 10_000

// goDuration reads what Go does. One that is negative is none.
func goDuration(text string) (time.Duration, error) {
	after, err := time.ParseDuration(text)
	if err == nil && after < 0 {
		err = errors.New("negative")
	}
	return after, err
}

func janitorTTL(text string) (time.Duration, error) {
	if text == "forever" {
		return 0, errForever
	}
	parts := janitorForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("not a number and one of s, m, h, d, w")
	}
	return duration(text)
}

var dateForms = []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02T150405Z", time.DateOnly}

// date reads a date or a time, of UTC where it says nothing else.
func date(text string) (at time.Time, err error) {
	for _, form := range dateForms {
		if at, err = time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, err
}

// end is when a mark says that the object's time is over. The error says why that cannot be told.
func (m mark) end(o *object.Parts, text string) (time.Time, error) {
	err := errors.New("no form")
	if m.after != nil {
		var after time.Duration
		if after, err = m.after(text); err == nil {
			return m.afterStart(o, after)
		}
	}
	if m.at != nil && !errors.Is(err, errForever) {
		return m.at(text)
	}
	return time.Time{}, err
}

func (m mark) afterStart(o *object.Parts, after time.Duration) (time.Time, error) {
	start := o.Created
	if m.from != "" {
		if text := annotation(o, m.from); text != "" {
			var err error
			if start, err = time.Parse(time.RFC3339, text); err != nil {
				return time.Time{}, err
			}
		}
	}
	if start.IsZero() {
		return time.Time{}, errors.New("nobody knows when it was created")
	}
	return start.Add(after), nil
}

// isMarked reports whether labels or annotations have a mark among them.
func isMarked(texts object.JSON) bool {
	for key := range texts.Fields() {
		if slices.ContainsFunc(marks, func(m mark) bool { return key.Is(m.key) }) {
			return true
		}
	}
	return false
}

// lookExpired looks at marks. An object stays as long as any of its marks lets it, or cannot be read. A controller hands the marks of its objects to
// what it makes of them, and decides itself.
func lookExpired(f *Finder, o *object.Parts) *candidate {
	labels, annotations := o.At("metadata", "labels"), o.At("metadata", "annotations")
	if !isMarked(labels) && !isMarked(annotations) {
		return nil
	}
	var last time.Time
	var by string
	owned := isOwned(o)
	for _, m := range marks {
		text := annotations.Field(m.key).Text()
		if m.isLabel {
			text = labels.Field(m.key).Text()
		}
		if text == "" || owned && m.key != podLifetime || m.key == podLifetime && o.Kind.GroupKind() != pods {
			continue
		}
		end, err := m.end(o, text)
		if err != nil || end.After(f.Now) {
			return nil
		}
		if end.After(last) || by == "" {
			last, by = end, m.key
		}
	}
	if by == "" {
		return nil
	}
	return certain("its time was over at "+last.UTC().Format(time.RFC3339)+", by "+by, last)
}
