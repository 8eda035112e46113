// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// claimants are what may ask for a volume.
var claimants = []schema.GroupKind{claims, statefulSets}

func storageRows() []*row {
	claim := namedRow(claims)
	claim.means = "no Pod or template names it, and no StatefulSet can claim it"
	claim.body, claim.look, claim.judge = true, lookClaim, judgeClaim
	return []*row{
		claim,
		{
			kind: volumes, typ: v1alpha1.FindingUnused, actionable: true, body: true, look: lookVolume,
			reads: claimants,
			means: "its claim was deleted (phase Released), or its reclamation failed (phase Failed), and no claim or StatefulSet asks for it by its name",
		},
		{
			kind: schema.GroupKind{
				Group: "storage.k8s.io",
				Kind:  "VolumeAttachment",
			},
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			body:       true,
			means:      "its Node or its PersistentVolume does not exist",
			reads:      []schema.GroupKind{nodes, volumes},
			look:       lookAttachment,
		},
	}
}

// lookClaim looks at a claim. Where the API server says since when no Pod uses it, that is taken; it knows nothing of
// templates.
func lookClaim(f *Finder, o *object.Parts) *candidate {
	c := byProject(f, o)
	if c == nil {
		return nil
	}
	c.marks = valuesOf(o)
	c.found = &Finding{Frees: Resources{VolumeBytes: apiserver.Capacity(o)}}
	switch condition := conditionOf(o, "Unused"); condition.Field("status").Text() {
	case "True":
		c.found.Since = timeAt(condition.Field("lastTransitionTime"))
	case "False":
		c.mayUse = "its condition Unused is False: a Pod uses it"
	}
	return c
}

// volume takes note of a claim whose volume stays when it is deleted.
func (n *notes) volume(o *object.Parts) {
	if spec := o.At("spec"); spec.Field("persistentVolumeReclaimPolicy").Text() == "Retain" {
		n.retained[claimOf(spec)] = true
	}
}

// judgeClaim knows that the storage of a claim stays whose volume's reclaim policy is Retain.
func judgeClaim(f *Finder, c *candidate) *Finding {
	found := judgeNamed(f, c)
	if found != nil && f.retained[c.object()] {
		found.Frees = Resources{}
	}
	return found
}

// lookVolume looks at a volume. One that is Available waits for a claim.
func lookVolume(_ *Finder, o *object.Parts) *candidate {
	status, spec := o.At("status"), o.At("spec")
	found := &Finding{
		Confidence: v1alpha1.ConfidenceCertain, Since: timeAt(status.Field("lastPhaseTransitionTime")),
		Frees: Resources{VolumeBytes: apiserver.Capacity(o)},
	}
	switch phase := status.Field("phase").Text(); phase {
	case "Released":
		found.Reason = "it is Released: its claim was " + claimOf(spec).String()
	case "Failed":
		found.Reason = "its reclamation failed: " + status.Field("message").Text()
	default:
		return nil
	}
	if policy := spec.Field("persistentVolumeReclaimPolicy").Text(); policy != "" {
		found.Reason += " (reclaim policy " + policy + ")"
	}
	claim := claimOf(spec)
	return &candidate{found: found, decide: func(f *Finder, found Finding) *Finding { return f.judgeVolume(found, claim) }}
}

// claimOf is the claim that a volume is bound to, or was.
func claimOf(volume object.JSON) graph.Name {
	claim := volume.Field("claimRef")
	return graph.Name{GroupKind: claims, Namespace: claim.Field("namespace").Text(), Name: claim.Field("name").Text()}
}

// judgeVolume finds a volume that no claim waits for: one that is to be claimed again is Released until somebody clears
// its claimRef.
func (f *Finder) judgeVolume(found Finding, claim graph.Name) *Finding {
	volume := graph.Name{GroupKind: volumes, Name: found.Name}
	if f.awaited[found.Name] || len(f.workloadsOf(volume)) > 0 { // a template of claims may ask for it
		return nil
	}
	found.Unknown = f.unreadAnywhere(claimants...)
	switch {
	case len(found.Unknown) > 0:
		found.Confidence = ""
		found.Reason += ", but it is unknown whether another claim asks for it"
	case f.graph.IsPresent(claim):
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but a claim of that name exists again"
	default:
		if workloads := f.workloadsOf(claim); len(workloads) > 0 {
			found.Confidence = v1alpha1.ConfidenceWeak
			found.Reason += ", but a claim of that name is used by " + usersOf(workloads)
		}
	}
	return &found
}

// workloadsOf are the Pods and what makes Pods that name a claim or a volume. A snapshot, too, may name a claim that is
// gone.
func (f *Finder) workloadsOf(name graph.Name) []graph.User {
	users := f.graph.Use(name).Users
	if len(users) == 0 {
		return nil
	}
	kinds := f.Table.PodKinds()
	return slices.DeleteFunc(users, func(u graph.User) bool { return !slices.Contains(kinds, u.GroupKind) })
}

// lookAttachment looks at an attachment. A driver needs no CSIDriver, and an inline volume no PersistentVolume.
func lookAttachment(_ *Finder, o *object.Parts) *candidate {
	node := graph.Name{GroupKind: nodes, Name: o.At("spec", "nodeName").Text()}
	volume := graph.Name{GroupKind: volumes, Name: o.At("spec", "source", "persistentVolumeName").Text()}
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		var unknown *Finding
		for _, name := range []graph.Name{node, volume} {
			if name.Name == "" {
				continue
			}
			switch judged := f.unusedWithout(found, "it attaches to "+name.String(), name); {
			case judged == nil:
			case len(judged.Unknown) == 0:
				return judged
			default:
				unknown = judged
			}
		}
		return unknown
	}}
}

// conditionOf is a condition in the object's status. Nil when it has none of the type.
func conditionOf(o *object.Parts, typ string) object.JSON {
	for condition := range o.At("status", "conditions").Elements() {
		if condition.Field("type").Text() == typ {
			return condition
		}
	}
	return nil
}

// timeAt reads a time. Zero when there is none.
func timeAt(value object.JSON) time.Time {
	at, err := time.Parse(time.RFC3339, value.Text())
	if err != nil {
		return time.Time{}
	}
	return at
}
