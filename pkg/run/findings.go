// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// findings are what one survey found for a Cleaner's selectors. A nil one has nothing.
type findings struct {
	// selectors are the Cleaner's.
	selectors []v1alpha1.ResourceSelector
	found     map[foundKey]*finding.Finding
	// counts are what earlier runs have counted, and now is what is counted since when it is found for the first time.
	counts guard.Counts
	now    time.Time
	// asked are those that a selector asked about, in the order in which it did: the objects that it selects by all that it says itself.
	asked []foundKey
	known map[foundKey]bool
}

// foundKey is an object and what was found of it.
type foundKey struct {
	uid types.UID
	typ v1alpha1.FindingType
}

// foundSize is about what is kept of a finding besides its texts.
const foundSize = 640

// readFindings reads all that the findings need that the Cleaner asks for, with the run's own rights. Nil when it asks for none. Its memory is
// charged while it reads; then only that of what was found is.
func (s Read) readFindings(ctx context.Context, t *task, memory *selector.Share, counts guard.Counts) (*findings, error) {
	wanted, namespace := wantedOf(t.cleaner)
	if len(wanted) == 0 {
		return nil, nil
	}
	now := s.Clock.Now()
	finder, err := s.newFinder(ctx, t, survey.Options{Wanted: wanted, Now: now, Namespace: namespace, Schemas: s.Learned})
	if err != nil {
		return nil, fmt.Errorf("looking for findings: %w", err)
	}
	observer := survey.Observer{List: func(kind object.Kind, _, _ int) {
		if t.observer.Lists != nil {
			t.observer.Lists(kind)
		}
	}, Unread: func(_ finding.List, err error, _ bool) error {
		if apierrors.IsForbidden(err) || t.preview && isNotTold(err) {
			return nil
		}
		return err
	}}
	before := memory.Taken()
	if err := survey.Read(ctx, t.who.reader, finder, namespace, memory, observer); err != nil {
		return nil, err
	}
	all := finder.Findings()
	memory.GiveBack(memory.Taken() - before)
	size := 0
	for i := range all {
		size += foundSize + len(all[i].Reason) + len(all[i].Name)
	}
	if err := memory.Take(size); err != nil {
		return nil, fmt.Errorf("the %d findings are too many: %w", len(all), err)
	}
	return newFindings(t.cleaner, all, counts, now), nil
}

// isNotTold reports whether manifests, which a preview reads instead of a cluster, do not tell what there is.
func isNotTold(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusNotImplemented
}

func newFindings(cleaner *v1alpha1.Cleaner, all []*finding.Finding, counts guard.Counts, now time.Time) *findings {
	f := &findings{
		selectors: cleaner.Spec.ResourcePolicySet.ResourceSelectors, counts: counts, now: now,
		found: make(map[foundKey]*finding.Finding, len(all)), known: map[foundKey]bool{},
	}
	for i := range all {
		f.found[foundKey{all[i].UID, all[i].Type}] = all[i]
	}
	return f
}

// newFinder makes what finds in this cluster. What users declared is read with the operator's rights: it is in the operator's namespace.
func (s Read) newFinder(ctx context.Context, t *task, options survey.Options) (*finding.Finder, error) {
	if s.Declared != nil {
		var err error
		if options.Declared, err = s.Declared(ctx); err != nil {
			return nil, err
		}
	}
	return survey.New(ctx, t.who.reader, options)
}

// wantedOf are the findings that a Cleaner asks for, and the namespace that they are all of. It is empty when they are of several.
func wantedOf(cleaner *v1alpha1.Cleaner) (wanted []finding.Want, namespace string) {
	var namespaces []string
	for _, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if spec.Finding == nil {
			continue
		}
		wanted = append(wanted, finding.Want{Kind: schema.GroupKind{Group: spec.Group, Kind: spec.Kind}, Type: spec.Finding.Type})
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

// of is what was found of an object that a selector asks for, as surely as it asks. Nil when nothing was.
func (f *findings) of(o object.Object, i int) *finding.Finding {
	if f == nil {
		return nil
	}
	asked := f.selectors[i].Finding
	if asked == nil {
		return nil
	}
	found := f.found[foundKey{o.UID, asked.Type}]
	if found == nil || len(found.Unknown) == 0 && !found.Confidence.IsAtLeast(asked.Least()) {
		return nil
	}
	return found
}

// judge is what the i-th selector asks about each object. Nil when it asks for no finding.
func (f *findings) judge(i int) func(object.Object) (selector.Finding, bool) {
	if f == nil || f.selectors[i].Finding == nil {
		return nil
	}
	return func(o object.Object) (selector.Finding, bool) {
		found := f.of(o, i)
		if found == nil {
			return selector.Finding{}, false
		}
		if key := (foundKey{found.UID, found.Type}); !f.known[key] && len(found.Unknown) == 0 && f.selectors[i].KeepsSince() {
			f.known[key] = true
			f.asked = append(f.asked, key)
		}
		told := selector.Finding{Reason: found.Reason}
		if spec := &f.selectors[i]; len(spec.MatchConditions) > 0 || spec.Evaluate != "" {
			told.Data = f.data(found)
		}
		return told, true
	}
}

// data is what conditions and scripts see of a finding.
func (f *findings) data(found *finding.Finding) object.JSON {
	of := map[string]string{
		"type": string(found.Type), "reason": found.Reason, "confidence": string(found.Confidence), "since": f.since(found).UTC().Format(time.RFC3339),
	}
	data, err := json.Marshal(map[string]any{"finding": of})
	if err != nil { // maps of texts can always be written
		return nil
	}
	return data
}

// unknown is the ruling on an object of which nobody knows whether it was found so. Nil when it is known.
func (f *findings) unknown(verdict object.Verdict) *ruling {
	found := f.of(verdict.Object, verdict.Selector)
	if found == nil || len(found.Unknown) == 0 {
		return nil
	}
	return &ruling{result: v1alpha1.OutcomeUnknown, detail: whyUnknown(found)}
}

// managed says what manages the object, if its selector leaves such objects alone.
func (f *findings) managed(verdict object.Verdict) string {
	found := f.of(verdict.Object, verdict.Selector)
	if found == nil || found.Managed == "" || f.selectors[verdict.Selector].Finding.TakesManaged() {
		return ""
	}
	return "it is managed by " + found.Managed + " (finding.includeManaged)"
}

// whyUnknown says what could not be read, in short: the errors themselves stand in the run's message.
func whyUnknown(found *finding.Finding) string {
	var kinds []string
	for _, unread := range found.Unknown {
		if unread.Err != nil {
			kinds = append(kinds, unread.Kind.String())
		}
	}
	if len(kinds) == 0 {
		return found.Reason
	}
	return found.Reason + "; not readable: " + strings.Join(kinds, ", ")
}

// unknownWords say how many objects are left alone because they are unknown, and what was refused first.
func unknownWords(record *v1alpha1.CleanerRun, d *decision) string {
	n, why := int64(0), error(nil)
	for i, verdict := range d.matched.All() {
		if r := d.rulings[i]; r == nil || r.result != v1alpha1.OutcomeUnknown {
			continue
		}
		n++
		for _, unread := range d.view.findings.of(verdict.Object, verdict.Selector).Unknown {
			if why == nil {
				why = unread.Err
			}
		}
	}
	switch {
	case n == 0:
		return ""
	case why == nil:
		return fmt.Sprintf(" Left alone as Unknown: %s.", objects(n))
	}
	if !apierrors.IsForbidden(why) { // no right would tell
		return fmt.Sprintf(" Left alone as Unknown, because nobody can tell whether they are used: %s; for example %s.", objects(n), oneLine(why))
	}
	return fmt.Sprintf(" Left alone as Unknown, because not all could be read that may name them: %s; for example %s. %s", objects(n), oneLine(why),
		forbiddenHint(why.Error(), record.Spec.ServiceAccountRef))
}
