// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/engine"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/progress"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// task is one run in hand: what it was asked to do, as it was when it began, and what it does that with.
type task struct {
	request Request
	cleaner *v1alpha1.Cleaner
	// record is the run's own, which Record writes. Nil in a preview.
	record *v1alpha1.CleanerRun
	action v1alpha1.Action
	// now is what ages are measured from.
	now time.Time
	// who reads, and later acts.
	who identity.Identity
	// engine is what it selects and changes objects with.
	engine *engine.Engine
	// progress follows the run, and observer its lists. progress is nil in a preview.
	progress *progress.Meter
	observer selector.Observer
	// plan is the approved plan that the run carries out. Nil when it carries out none.
	plan *journal.Plan
	// gone says that somebody deleted the record while the run went on.
	gone error
	// preview says that a user looks, who need not have the rights that the operator has.
	preview bool
}

// acts reports whether the run is going to touch something.
func (t *task) acts() bool { return t.action != v1alpha1.ActionScan }

// plans reports whether the run touches nothing, and leaves a plan that a person must approve.
func (t *task) plans() bool {
	return !t.preview && t.acts() && t.cleaner.NeedsApproval() && t.record.Spec.Plan == nil
}

// keepsBodies reports whether the run needs more of what matches than its name, once it was judged.
func (t *task) keepsBodies() bool {
	return t.acts() || t.preview || t.cleaner.CopyStorage() == v1alpha1.StorageReport
}

// mayBeginAnew reports whether an error is that the scripts need more memory, and the run can have more.
func (t *task) mayBeginAnew(err error) bool { return isOutgrown(err) && t.request.Outgrown != nil }

// end closes what the task was opened with.
func (t *task) end() {
	t.progress.End()
	t.engine.Close()
}
