// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// live is a preview while it goes on.
type live struct {
	job      *job
	runner   *run.Runner
	cleaner  *v1alpha1.Cleaner
	progress *terminal.Progress
	// streams is whether rows are shown as they are found.
	streams bool
	// namespaces are those that were looked at for protection.
	namespaces map[string]*metav1.ObjectMeta
	// pending are the objects whose rows are not shown yet, and shown is what was said to become of the objects so far.
	pending             []run.PreviewItem
	shown               map[types.UID]v1alpha1.OutcomeResult
	considered, matched int64
	flushed             time.Time
	// rows is how many rows were shown, and beyond is what --limit left out.
	rows   int64
	beyond beyond
	// refused is how many objects the API server would refuse to touch.
	refused int64
	// unsure is whether it may refuse others that are planned, because it was not asked about all of their kind.
	unsure bool
	// forbidden is what the account of --as may not do of that, and denied how many objects that concerns.
	forbidden string
	denied    int64
}

func (j *job) watch(runner *run.Runner, cleaner *v1alpha1.Cleaner) *live {
	return &live{
		job:      j,
		runner:   runner,
		cleaner:  cleaner,
		progress: j.StartProgress(j.progress),
		// What the account of --as may not do, what a Transform would do, what an aggregated script chooses, what protected
		// objects would be deleted with others,
		// and of which objects a finding is unknown, is known at the end only.
		streams: j.printsTable() && j.Overrides.AuthInfo.Impersonate == "" &&
			cleaner.Spec.ResourcePolicySet.AggregatedSelection == "" &&
			cleaner.EffectiveAction() != v1alpha1.ActionTransform &&
			!deletesOthers(cleaner) &&
			!cleaner.HasFindings(),
		namespaces: map[string]*metav1.ObjectMeta{},
		shown:      map[types.UID]v1alpha1.OutcomeResult{},
		beyond:     beyond{},
		flushed:    j.Clock.Now(),
	}
}

// deletesOthers reports whether the Cleaner deletes objects with which others would be deleted. Few Pods are such.
func deletesOthers(cleaner *v1alpha1.Cleaner) bool {
	return cleaner.EffectiveAction() == v1alpha1.ActionDelete &&
		slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
			kind := schema.GroupKind{Group: s.Group, Kind: s.Kind}
			isPod := kind == schema.GroupKind{Kind: "Pod"}
			return guard.IsNamespace(s.Group, s.Kind) || !isPod && len(guard.Dependents(kind, cleaner.Spec.DeleteOptions)) > 0
		})
}

func (l *live) observer(ctx context.Context) selector.Observer {
	return selector.Observer{
		Lists: l.lists, Judged: l.judged,
		Candidate: func(c stage.Candidate) { l.candidate(ctx, c) },
		Chooses:   func() { l.progress.Begin("judging all together", false) },
	}
}

// lists shows what is read now.
func (l *live) lists(kind object.Kind) { l.progress.Begin("reading "+kind.Kind, true) }

// judged takes note of an object that was judged.
func (l *live) judged() {
	l.considered++
	l.progress.Count(1, 0)
	if l.considered%64 == 0 {
		l.flushSometimes()
	}
}

// candidate shows the row of an object that matches.
func (l *live) candidate(ctx context.Context, c stage.Candidate) {
	l.matched++
	l.progress.Count(0, 1)
	if !l.streams || l.shown[c.UID] != "" {
		return
	}
	item := run.PreviewItem{
		Outcome: stage.Outcome{Verdict: stage.Verdict{Candidate: c, Act: true}, Result: v1alpha1.OutcomePlanned},
	}
	if reason := l.protection(ctx, c.Object); reason != "" {
		guard.Protect(l.cleaner.EffectiveAction(), &item.Verdict, reason)
	}
	switch item.Detail = item.Reason; {
	case !item.Act:
		item.Result = item.Skip
	case l.cleaner.EffectiveAction() == v1alpha1.ActionScan:
		item.Result = v1alpha1.OutcomeMatched
	}
	l.shown[c.UID] = item.Result
	if l.job.shows(item) {
		l.pending = append(l.pending, item)
		l.flushSometimes()
	}
}

// protection is why nobody may touch the object. What cannot be read is reported at the end.
func (l *live) protection(ctx context.Context, o object.Object) string {
	if _, known := l.namespaces[o.Namespace]; !known && o.Namespace != "" {
		l.namespaces[o.Namespace] = nil
		if found, err := l.readNamespace(ctx, o.Namespace); err == nil {
			maps.Copy(l.namespaces, found)
		}
	}
	reason, err := l.runner.Read.Protection.Reason(l.cleaner.EffectiveAction(), o, l.namespaces[o.Namespace])
	if err != nil {
		return ""
	}
	return reason
}

// readNamespace reads a namespace: of a few, one after the other, and then all in one list.
func (l *live) readNamespace(ctx context.Context, name string) (map[string]*metav1.ObjectMeta, error) {
	if len(l.namespaces) > selector.FewNamespaces {
		return l.runner.Read.Operator.AllNamespaces(ctx)
	}
	return l.runner.Read.Operator.Namespaces(ctx, []string{name})
}

// flushSometimes shows the rows so far once in a while: rows that are shown together are as wide as the widest of them.
func (l *live) flushSometimes() {
	if now := l.job.Clock.Now(); now.Sub(l.flushed) >= time.Second {
		l.flushed = now
		l.flush("")
	}
}

// flush shows the rows of the objects that were found since the last time. stop is the word for why nothing would be
// touched after all. The rows of several Cleaners wait for the last one: they stand under one header.
func (l *live) flush(stop string) {
	for _, group := range l.job.groups(l.pending) {
		full := l.job.limit > 0 && l.rows >= l.job.limit
		if full && (group.count == 1 || isFinding(group.PreviewItem)) { // the few other rows of many are worth their lines
			l.beyond.add(group)
			continue
		}
		l.rows++
		l.job.rows.Add(l.job.row(l.cleaner, group, stop))
	}
	l.pending = nil
	if !l.job.several {
		l.progress.Beside(l.job.rows.Flush)
	}
}

// takeBack says that the rows that were shown may not hold any more. If there are none, nobody has seen anything.
func (l *live) takeBack() {
	if l.rows == 0 && len(l.beyond) == 0 {
		l.pending, l.shown = nil, nil
		return
	}
	l.flush("")
	why := "the cluster changed while it was read"
	if l.refused > 0 {
		why = "the API server would refuse some of that"
	}
	l.job.Note("%s; what follows is correct, and replaces the text above", why)
	l.shown, l.rows, l.beyond = nil, 0, beyond{}
}

// reportRest shows the rows that were not shown yet. When the list was read anew meanwhile, those that were may not
// hold any more.
func (j *job) reportRest(l *live, found *run.Preview) {
	if !j.printsTable() {
		return
	}
	if l.stale(found) {
		l.takeBack()
	}
	for _, item := range found.Items {
		if l.shown[item.UID] == "" && j.shows(item) {
			l.pending = append(l.pending, item)
		}
	}
	l.flush(stopWord(found))
	if len(l.beyond) > 0 {
		j.Note("%s; --limit 0 lists them all", l.beyond.words())
	}
	if !j.several {
		j.diffs(found.Items)
		return
	}
	j.patched = append(j.patched, found.Items...)
}

// stopWord is the word for why a run would touch nothing. It is empty when it would go on.
func stopWord(found *run.Preview) string {
	switch {
	case found.Incomplete != nil:
		return "incomplete"
	case found.Limit != nil:
		return "limit"
	}
	return ""
}

// stale reports whether something else became of an object than what was said.
func (l *live) stale(found *run.Preview) bool {
	became := map[types.UID]v1alpha1.OutcomeResult{}
	for _, item := range found.Items {
		became[item.UID] = item.Result
	}
	for uid, said := range l.shown {
		if became[uid] != said {
			return true
		}
	}
	return false
}
