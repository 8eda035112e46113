// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Findings are those of one survey for a Cleaner's selectors. A nil Findings has none.
type Findings struct {
	// selectors are the Cleaner's.
	selectors []v1alpha1.ResourceSelector
	// found does not say of which object it is: many have the same.
	found map[findingKey]*finding.Finding
	// counts are what earlier runs have counted, and now is what is counted since when it is found for the first time.
	counts guard.Counts
	now    time.Time
	// onlyKnown is true when what is unknown counts as not found.
	onlyKnown bool
	// asked are those that a selector asked about, in the order in which it did: the objects that it selects by all that
	// it says itself.
	asked []series
	known map[series]bool
	// bytes is about how much memory it takes.
	bytes int
}

// Bytes is about how much memory they take.
func (f *Findings) Bytes() int64 {
	if f == nil {
		return 0
	}
	return int64(f.bytes)
}

// findingKey is an object and what was found of it.
type findingKey struct {
	uid types.UID
	typ v1alpha1.FindingType
}

// For finds what the Cleaner's selectors ask for. It sets what the options say of findings, and their Namespace. counts
// are those of earlier runs. The memory is charged with all that is read while that lasts, and then only with what was
// found.
func For(
	ctx context.Context,
	reader *selector.Reader,
	memory *selector.Share,
	cleaner *v1alpha1.Cleaner,
	counts guard.Counts,
	options Options,
	observer Observer,
) (*Findings, error) {
	options.Wanted, options.Namespace = wantedOf(cleaner)
	options.EachDialect, options.WithUsers = namesDialects(cleaner), wantsCascading(options.Wanted)
	finder, err := New(ctx, reader, options)
	if err != nil {
		return nil, fmt.Errorf("looking for findings: %w", err)
	}
	before := memory.Taken()
	if err := Read(ctx, reader, finder, options.Namespace, memory, observer); err != nil {
		return nil, err
	}
	all := finder.Findings()
	memory.GiveBack(memory.Taken() - before)
	found := newFindings(cleaner, all, counts, options.Now)
	if err := memory.Take(found.bytes); err != nil {
		return nil, fmt.Errorf("not enough memory for the %d findings: %w", len(found.found), err)
	}
	return found, nil
}

func newFindings(
	cleaner *v1alpha1.Cleaner,
	all iter.Seq[*finding.Finding],
	counts guard.Counts,
	now time.Time,
) *Findings {
	f := &Findings{
		selectors: cleaner.Spec.ResourcePolicySet.ResourceSelectors, counts: counts, now: now,
		found: map[findingKey]*finding.Finding{}, known: map[series]bool{},
	}
	f.add(all)
	return f
}

// wantedOf are the findings that a Cleaner asks for, and the namespace that they are all of. It is empty when they are
// of several.
func wantedOf(cleaner *v1alpha1.Cleaner) (wanted []finding.Want, namespace string) {
	var namespaces []string
	for _, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if spec.Finding == nil {
			continue
		}
		wanted = append(
			wanted,
			finding.Want{Kind: schema.GroupKind{Group: spec.Group, Kind: spec.Kind}, Type: spec.Finding.Type},
		)
		within := spec.Namespace
		if spec.NamespaceSelector != "" {
			within = "" // the two are united
		}
		namespaces = append(namespaces, within)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) == 1 {
		namespace = namespaces[0]
	}
	return wanted, namespace
}

// wantsCascading reports whether one of the findings is for what only unused or idle objects use.
func wantsCascading(wanted []finding.Want) bool {
	return slices.ContainsFunc(wanted, func(w finding.Want) bool { return w.Type == v1alpha1.FindingCascading })
}

// namesDialects reports whether a selector reads the time marks of some dialects only.
func namesDialects(cleaner *v1alpha1.Cleaner) bool {
	return slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return s.Finding != nil && len(s.Finding.Dialects) > 0
	})
}

// of is what was found of an object that a selector asks for, as surely as it asks. Nil when nothing was.
func (f *Findings) of(o object.Object, i int) *finding.Finding {
	if f == nil || f.selectors[i].Finding == nil {
		return nil
	}
	asked := f.selectors[i].Finding
	found := f.narrowed(findingKey{o.UID, asked.Type}, asked)
	if found == nil || f.onlyKnown && len(found.Unknown) > 0 ||
		len(found.Unknown) == 0 && !found.Confidence.IsAtLeast(asked.Least()) {
		return nil
	}
	return found
}

// narrowed is what was found of an object by the time marks that a selector reads. Findings without marks stay as they
// are.
func (f *Findings) narrowed(key findingKey, asked *v1alpha1.FindingSelector) *finding.Finding {
	found := f.found[key]
	if found != nil && len(found.Marks) > 0 {
		return found.Expired(f.now, asked.Dialects...)
	}
	return found
}

// isKnown reports whether it was found for one of the selectors that count it, as surely as that asks.
func (f *Findings) isKnown(key series) bool {
	return slices.ContainsFunc(f.selectors, func(s v1alpha1.ResourceSelector) bool {
		if s.Finding == nil || s.Finding.Type != key.typ || countedBy(s.Finding) != key.by {
			return false
		}
		found := f.narrowed(key.findingKey, s.Finding)
		return found != nil && len(found.Unknown) == 0 && found.Confidence.IsAtLeast(s.Finding.Least())
	})
}

// Judge is what the i-th selector asks about each object. Nil when it asks for no finding.
func (f *Findings) Judge(i int) func(object.Object) (selector.Finding, bool) {
	if f == nil || f.selectors[i].Finding == nil {
		return nil
	}
	return func(o object.Object) (selector.Finding, bool) {
		found := f.of(o, i)
		if found == nil {
			return selector.Finding{}, false
		}
		key := series{findingKey{o.UID, found.Type}, countedBy(f.selectors[i].Finding)}
		if !f.known[key] && len(found.Unknown) == 0 && f.selectors[i].KeepsSince() {
			f.known[key] = true
			f.asked = append(f.asked, key)
		}
		converted := selector.Finding{Reason: found.Reason}
		if spec := &f.selectors[i]; len(spec.MatchConditions) > 0 || spec.Evaluate != "" {
			converted.Data = f.data(found, key)
		}
		return converted, true
	}
}

// data is what conditions and scripts see of a finding.
func (f *Findings) data(found *finding.Finding, counted series) object.JSON {
	of := map[string]string{
		"type": string(
			found.Type,
		),
		"reason":     found.Reason,
		"confidence": string(found.Confidence),
		"since":      f.since(found, counted).UTC().Format(time.RFC3339),
	}
	data, err := json.Marshal(map[string]any{"finding": of})
	if err != nil { // maps of texts can always be written
		return nil
	}
	return data
}

// Unknown says why nobody knows whether a candidate was found so. It is not unknown when it was chosen by no finding.
func (f *Findings) Unknown(c stage.Candidate) (why string, is bool) {
	found := f.of(c.Object, c.Selector)
	if found == nil || len(found.Unknown) == 0 {
		return "", false
	}
	return whyUnknown(found), true
}

// Unread is the first error for which a candidate is unknown. Nil when it is known, or unknown for another cause.
func (f *Findings) Unread(c stage.Candidate) error {
	if found := f.of(c.Object, c.Selector); found != nil {
		for _, unread := range found.Unknown {
			if unread.Err != nil {
				return unread.Err
			}
		}
	}
	return nil
}

// Protects says why a candidate is left alone although it was found: for what it is itself, or for what manages it, if
// its selector leaves such objects alone. Empty when nothing protects it.
func (f *Findings) Protects(c stage.Candidate) string {
	found := f.of(c.Object, c.Selector)
	switch {
	case found == nil:
		return ""
	case found.Protected != "":
		return found.Protected
	case found.Managed == "" || f.selectors[c.Selector].Finding.TakesManaged():
		return ""
	}
	return "it is managed by " + found.Managed + " (finding.includeManaged)"
}

// NotReadable stands before the kinds that could not be read and that may use an object.
const NotReadable = "; not readable: "

// mostNotReadable is how many kinds that could not be read stand in a reason: each object has its own.
const mostNotReadable = 4

// whyUnknown says what could not be read, in short: the errors themselves stand in the run's message.
func whyUnknown(found *finding.Finding) string {
	var kinds []string
	for _, unread := range found.NotReadable() {
		kinds = append(kinds, wordsOf(unread))
	}
	if len(kinds) == 0 {
		return found.Reason
	}
	rest := ""
	if more := len(kinds) - mostNotReadable; more > 1 {
		kinds, rest = kinds[:mostNotReadable], fmt.Sprintf(" and %d more", more)
	}
	return found.Reason + NotReadable + strings.Join(kinds, ", ") + rest
}

// wordsOf names what could not be read.
func wordsOf(unread finding.Unread) string {
	if declared := (*DeclaredError)(nil); errors.As(unread.Err, &declared) {
		return declared.What()
	}
	return unread.Kind.String()
}
