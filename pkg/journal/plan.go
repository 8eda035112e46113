// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// maxPlanBytes bounds a plan: a record must list all of it, because nobody can approve what he cannot see.
	maxPlanBytes = 192 << 10
	// maxPlanText bounds a message and a patch in a plan.
	maxPlanText = 1 << 10
)

// Draft are the entries of a plan, in the order of the victims: the first ones, as many as fit. mask, if not nil, hides
// values of Secrets in a patch.
func Draft(action v1alpha1.Action, victims []Victim, mask func(string) string) []v1alpha1.ObjectOutcome {
	entries, room := []v1alpha1.ObjectOutcome{}, maxPlanBytes
	for i := range victims {
		victim := &victims[i]
		entry := entryOf(&stage.Outcome{
			Verdict: stage.Verdict{Candidate: victim.Candidate},
			Result:  v1alpha1.OutcomePlanned,
		})
		entry.Message = v1alpha1.Truncate(entry.Message, maxPlanText)
		entry.PlanHash = PlannedHash(action, victim)
		if victim.Kind.Kind != "Secret" || victim.Kind.Group != "" { // else it may hold values
			change := string(victim.Patch)
			if mask != nil {
				change = mask(change)
			}
			entry.Change = v1alpha1.Truncate(change, maxPlanText)
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
	outcomes []stage.Outcome,
	plan []v1alpha1.ObjectOutcome,
) {
	left, planned := apart(outcomes)
	room := maxRunBytes
	for i := range plan {
		room -= plan[i].Size()
	}
	status := &run.Status
	describe(run, room, considered, left, planned)
	if run.Spec.Action == v1alpha1.ActionDelete {
		for outcome := range planned {
			status.Plan.VolumeBytes += outcome.VolumeBytes
		}
	}
	status.Objects = append(slices.Clip(plan), status.Objects...)
	if status.ObjectsOmitted -= int64(len(plan)); status.ObjectsOmitted == 0 {
		status.Tallies = nil
	}
}

// Plan is what a person approved. The zero value allows nothing.
type Plan struct {
	entries []v1alpha1.ObjectOutcome
	hashes  map[types.UID]string
	// names are the UIDs by kind and name, in whatever version the kind is served.
	names map[planName]types.UID
}

type planName struct {
	schema.GroupKind
	namespace, name string
}

func nameOf(group, kind, namespace, name string) planName {
	return planName{schema.GroupKind{Group: group, Kind: kind}, namespace, name}
}

// PlanOf is the plan in a record, as the objects that it lists say.
func PlanOf(run *v1alpha1.CleanerRun) *Plan {
	p := &Plan{hashes: map[types.UID]string{}, names: map[planName]types.UID{}}
	for _, entry := range run.Status.Objects {
		if entry.Outcome == v1alpha1.OutcomePlanned {
			p.entries, p.hashes[entry.UID] = append(p.entries, entry), entry.PlanHash
			group := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind).Group
			p.names[nameOf(group, entry.Kind, entry.Namespace, entry.Name)] = entry.UID
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

// Before is the UID of the object of the plan that has the kind and name of this one. Empty when the plan has none.
func (p *Plan) Before(o *object.Object) types.UID {
	return p.names[nameOf(o.Kind.Group, o.Kind.Kind, o.Namespace, o.Name)]
}

// Missing is what is in the plan and does not match any more.
func (p *Plan) Missing(matches func(types.UID) bool) (missing []v1alpha1.ObjectOutcome) {
	for _, entry := range p.entries {
		if !matches(entry.UID) {
			missing = append(missing, entry)
		}
	}
	return missing
}

// DescribeMissing puts what is missing of a plan into the status of the run that carries it out. The counts are of what
// matches: it is not among them.
func DescribeMissing(run *v1alpha1.CleanerRun, missing []v1alpha1.ObjectOutcome) {
	room := maxRunBytes
	for i := range run.Status.Objects {
		room -= run.Status.Objects[i].Size()
	}
	for _, entry := range missing {
		entry.Outcome, entry.Reason = v1alpha1.OutcomeChanged, "it is in the approved plan, and is gone or does not match any more"
		entry.Change, entry.PlanHash = "", ""
		if room -= entry.Size(); room < 0 {
			run.Status.ObjectsOmitted++
			continue
		}
		run.Status.Objects = append(run.Status.Objects, entry)
	}
}
