// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Counts are in how many consecutive runs each object has matched, by its CountKey.
type Counts map[string]int64

// CountKey is an object's key in the counts, as k8s-cleaner writes it.
func CountKey(o object.Object) string { return o.Kind.Kind + "__" + string(o.UID) }

// Seen counts one more complete run, in which just the keys of matched matched: they count one more, everything else
// starts anew. What has reached the threshold stays there: counts that do not change need not be written.
func (c Counts) Seen(matched []string, threshold int64) Counts {
	next := make(Counts, len(matched))
	for _, key := range matched {
		next[key] = min(c[key]+1, threshold)
	}
	return next
}

// Without are the counts without those of some keys.
func (c Counts) Without(keys map[string]bool) Counts {
	left := maps.Clone(c)
	maps.DeleteFunc(left, func(key string, _ int64) bool { return keys[key] })
	return left
}

// Still are the counts whose keys others have, too. all is true when that is all of them.
func (c Counts) Still(others Counts) (left Counts, all bool) {
	left = maps.Clone(c)
	maps.DeleteFunc(left, func(key string, _ int64) bool { _, is := others[key]; return !is })
	return left, len(left) == len(c)
}

// LimitError says that a run would touch more than it may. Users match on its text.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return "blast radius limit exceeded: " + e.text }

// WayOut ends a message about a LimitError with what counts and what to do. It is empty for any other error.
func WayOut(err error) string {
	if _, ok := errors.AsType[*LimitError](err); !ok {
		return ""
	}
	return ". The limit counts only objects that the run would touch. If you want all of them to be touched, raise the limit in spec.blastRadiusLimit; otherwise, let the Cleaner select less."
}

// BlastRadius returns a LimitError when matched objects out of total are more than limit allows. total is used with
// maxPercentage only; when it is zero, any match is too much, because the share is unknown.
func BlastRadius(limit *v1alpha1.BlastRadiusLimit, matched, total int64) error {
	if limit == nil || matched == 0 {
		return nil
	}
	if limit.MaxCount != nil && matched > int64(*limit.MaxCount) {
		return &LimitError{fmt.Sprintf("%d resources matched (max count %d)", matched, *limit.MaxCount)}
	}
	if limit.MaxPercentage == nil {
		return nil
	}
	percentage := int64(*limit.MaxPercentage)
	if total == 0 {
		return &LimitError{fmt.Sprintf("100%% of resources matched (max percentage %d%%)", percentage)}
	}
	if matched*100 > percentage*total {
		return &LimitError{
			fmt.Sprintf("%s%% of resources matched (max percentage %d%%)", share(matched, total, percentage), percentage),
		}
	}
	return nil
}

// MaxActions returns an error when a run would act on more objects than the operator lets any run; a limit of 0 is
// none.
func MaxActions(limit, objects int) error {
	if limit == 0 || objects <= limit {
		return nil
	}
	return fmt.Errorf(
		"the run would act on %d objects, and the operator allows %d in one run (--max-actions-per-run): let the Cleaner select less, or, if you want all of them to be touched, raise the flag",
		objects,
		limit,
	)
}

// How many objects a run may leave alone because they could not be judged: either many, or a small share.
const (
	maxUnjudged        = 10
	maxUnjudgedPercent = 1
)

// Unjudged returns an error when more objects could not be judged than a run with onPartialView: Skip may leave alone.
func Unjudged(unjudged, considered int64) error {
	if unjudged <= maxUnjudged || unjudged*100 <= maxUnjudgedPercent*considered {
		return nil
	}
	return fmt.Errorf(
		"%d of %d objects could not be judged, which is more than onPartialView: Skip leaves alone (%d objects, or %d %% of those that one selector considered)",
		unjudged,
		considered,
		maxUnjudged,
		maxUnjudgedPercent,
	)
}

// share writes a percentage with as many digits as it takes not to look like the limit that it exceeds.
func share(matched, total, limit int64) string {
	value := float64(matched) * 100 / float64(total)
	for digits := 4; ; digits++ {
		text := strconv.FormatFloat(value, 'g', digits, 64)
		if text != strconv.FormatInt(limit, 10) || digits > 17 {
			return text
		}
	}
}
