// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// maxPlanBytes bounds a plan: a record must list all of it, because nobody can approve what he cannot see.
	maxPlanBytes = 192 << 10
	// maxPlanText bounds a message and a patch in a plan.
	maxPlanText = 1 << 10
)

// Draft are the entries of a plan, in the order of the victims: the first ones, as many as fit. show cleans the text of
// a patch.
func Draft(action v1alpha1.Action, victims []Victim, show func(string) string) []v1alpha1.ObjectOutcome {
	entries, room := []v1alpha1.ObjectOutcome{}, maxPlanBytes
	for i := range victims {
		victim := &victims[i]
		entry := entryOf(&object.Outcome{
			Verdict: object.Verdict{Candidate: victim.Candidate},
			Result:  v1alpha1.OutcomePlanned,
		})
		entry.Message = v1alpha1.Truncate(entry.Message, maxPlanText)
		entry.PlanHash = PlannedHash(action, victim)
		if victim.Kind.Kind != "Secret" || victim.Kind.Group != "" { // else it may hold values
			entry.Change = v1alpha1.Truncate(show(string(victim.Patch)), maxPlanText)
		}
		if room -= entry.Size(); room < 0 {
			break
		}
		entries = append(entries, entry)
	}
	return entries
}

// PlannedHash is a hash of what is planned for an object. The version in which a kind is served does not matter.
func PlannedHash(action v1alpha1.Action, victim *Victim) string {
	return digest(string(action), victim.Kind.Group, victim.Kind.Kind, victim.Namespace, victim.Name, string(victim.UID),
		string(victim.Patch))
}

// PlanHash is a hash of the entries of a plan, in whatever order they are.
func PlanHash(entries []v1alpha1.ObjectOutcome) string {
	hashes := make([]string, 0, len(entries))
	for i := range entries {
		hashes = append(hashes, entries[i].PlanHash)
	}
	slices.Sort(hashes)
	return digest(hashes...)
}

// digest is a hash of texts: no others have the same.
func digest(texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		sum.Write(size[:])
		sum.Write([]byte(text))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// DescribePlan puts a plan, and the outcomes of the objects that are not in it, into the run's status.
func DescribePlan(
	run *v1alpha1.CleanerRun,
	considered int64,
	outcomes []object.Outcome,
	plan []v1alpha1.ObjectOutcome,
) {
	left, planned := apart(outcomes)
	room := maxRunBytes
	for i := range plan {
		room -= plan[i].Size()
	}
	status := &run.Status
	describe(run, room, considered, left, planned)
	status.Objects = append(slices.Clip(plan), status.Objects...)
	if status.ObjectsOmitted -= int64(len(plan)); status.ObjectsOmitted == 0 {
		status.Tallies = nil
	}
}

// Plan is what a person approved. The zero value allows nothing.
type Plan struct {
	entries []v1alpha1.ObjectOutcome
	hashes  map[types.UID]string
}

// PlanOf is the plan in a record, as the objects that it lists say.
func PlanOf(run *v1alpha1.CleanerRun) *Plan {
	p := &Plan{hashes: map[types.UID]string{}}
	for _, entry := range run.Status.Objects {
		if entry.Outcome == v1alpha1.OutcomePlanned {
			p.entries, p.hashes[entry.UID] = append(p.entries, entry), entry.PlanHash
		}
	}
	return p
}

// Has reports whether the object is in the plan.
func (p *Plan) Has(uid types.UID) bool { return p.hashes[uid] != "" }

// Allows reports whether the plan says that this is done to the object.
func (p *Plan) Allows(action v1alpha1.Action, victim *Victim) bool {
	return p.Has(victim.UID) && p.hashes[victim.UID] == PlannedHash(action, victim)
}

// DescribeMissing puts into the status of the run that carries out the plan, which may be nil, what is in the plan and
// does not match any more. It counts as left alone, and not as matched.
func (p *Plan) DescribeMissing(run *v1alpha1.CleanerRun, matches func(types.UID) bool) {
	if p == nil {
		return
	}
	room := maxRunBytes
	for i := range run.Status.Objects {
		room -= run.Status.Objects[i].Size()
	}
	for _, entry := range p.entries {
		if matches(entry.UID) {
			continue
		}
		run.Status.Skipped++
		entry.Outcome, entry.Reason = v1alpha1.OutcomeChanged, "it is in the approved plan, and does not match any more"
		entry.Change, entry.PlanHash = "", ""
		if room -= entry.Size(); room < 0 {
			run.Status.ObjectsOmitted++
			continue
		}
		run.Status.Objects = append(run.Status.Objects, entry)
	}
}
