// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// marksOf reads the marks of an object.
func marksOf(o *object.Parts) []mark.Mark {
	labels, annotations := o.At("metadata", "labels"), o.At("metadata", "annotations")
	if !isMarked(labels) && !isMarked(annotations) {
		return nil
	}
	text := func(of object.JSON) func(string) (string, bool) {
		return func(key string) (string, bool) {
			value := of.Field(key)
			return value.Text(), value.Type() != object.Absent && value.Type() != object.Null
		}
	}
	return mark.Read(mark.Object{
		Created:    o.Created,
		IsPod:      o.Kind.GroupKind() == pods,
		IsOwned:    isOwned(o),
		Label:      text(labels),
		Annotation: text(annotations),
	})
}

// isMarked reports whether labels or annotations have a mark among them.
func isMarked(texts object.JSON) bool {
	for key := range texts.Fields() {
		if mark.IsKey(key.Is) {
			return true
		}
	}
	return false
}

// lookExpired looks at marks. An object stays as long as any of its marks lets it. One that cannot be read makes it
// unknown.
func lookExpired(f *Finder, o *object.Parts) *candidate {
	found := Finding{Marks: marksOf(o), Kind: o.Kind}
	if expired := found.Expired(f.Now); expired != nil {
		return &candidate{found: expired, isFound: true}
	}
	if f.EachDialect && found.isExpiredByOne(f.Now) {
		return &candidate{found: &found, isFound: true}
	}
	return nil
}

// isExpiredByOne reports whether the marks of some dialect alone end the object's time.
func (f *Finding) isExpiredByOne(now time.Time) bool {
	for i := range f.Marks {
		if f.Expired(now, v1alpha1.MarkDialect(f.Marks[i].Dialect)) != nil {
			return true
		}
	}
	return false
}

// Expired is what the marks of the dialects say of the object, or those of all when none is named. Nil when they let it
// stay.
func (f *Finding) Expired(now time.Time, dialects ...v1alpha1.MarkDialect) *Finding {
	expired := *f
	expired.Unknown, expired.Confidence, expired.Reason, expired.Since = nil, "", "", time.Time{}
	last, ok, err := mark.Last(mark.Of(f.Marks, dialects...))
	switch {
	case err != nil:
		expired.Unknown = []Unread{{}}
		expired.Reason = "it is unknown when it expires: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	case !ok || last.Never || last.Ends.After(now):
		return nil
	default:
		expired.Confidence, expired.Since = v1alpha1.ConfidenceCertain, last.Ends
		expired.Reason = "it expired at " + last.Ends.UTC().Format(time.RFC3339) + ", by " + last.Key
	}
	return &expired
}
