// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

// usual are the resources that people mark, where nothing says which.
var usual = []string{
	"namespaces", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "pods", "services", "ingresses",
	"configmaps", "secrets",
	"persistentvolumeclaims",
}

// readMarks takes note of an object that bears an annotation of kube-janitor. One that cannot be read keeps the object.
// It is false for any other object.
func (in *janitorInput) readMarks(d *manifest.Document) bool {
	metadata, _ := d.Value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	marks := mark.Read(mark.Object{Created: time.Unix(0, 0), Label: none, Annotation: func(key string) (string, bool) {
		text, ok := annotations[key].(string)
		return text, ok && slices.Contains(janitorMarks, key)
	}})
	for _, m := range marks {
		in.seen(d)
		if m.Err != nil {
			in.lost(d, "metadata.annotations["+m.Key+"]", m.Err.Error(),
				"the object stays, with kube-janitor and with KubeCleaner, until you correct it")
		}
	}
	if len(marks) > 0 {
		in.marked = append(in.marked, d)
	}
	return len(marks) > 0
}

// marks is a Cleaner that reads the annotations of kube-janitor. Nil when nothing of kube-janitor was given.
func (in *janitorInput) marks() (*v1alpha1.Cleaner, *manifest.Document) {
	from := in.first
	if in.flags.found != nil {
		from = in.flags.found
	}
	if from == nil {
		return nil, nil
	}
	kinds := in.markedKinds(from)
	if len(kinds) == 0 {
		return nil, nil
	}
	return in.markCleaner("kube-janitor-marks", kinds, v1alpha1.MarkKubeJanitor, from), from
}

// markCleaner is a Cleaner that reads the time marks of a tool on objects of some kinds.
func (j *job) markCleaner(
	name string,
	kinds []schema.GroupVersionKind,
	dialect v1alpha1.MarkDialect,
	from *manifest.Document,
) *v1alpha1.Cleaner {
	c := j.newCleaner(name, marksSchedule)
	for _, kind := range kinds {
		finding := &v1alpha1.FindingSelector{Type: v1alpha1.FindingExpired, Dialects: []v1alpha1.MarkDialect{dialect}}
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors,
			v1alpha1.ResourceSelector{
				Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Finding: finding,
			})
	}
	if j.keepAction {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](findingLimit)}
		j.differs(from, "", fmt.Sprintf("a Cleaner that deletes by a finding needs a limit: it deletes at most %d objects in a run",
			findingLimit), "change blastRadiusLimit.maxCount")
	}
	return c
}

// markedKinds are the kinds on which annotations of kube-janitor are read.
func (in *janitorInput) markedKinds(from *manifest.Document) []schema.GroupVersionKind {
	kinds := in.kindsOfMarked()
	wanted := in.flags.included
	if wanted == nil && len(kinds) == 0 {
		wanted = usual
		in.differs(from, "",
			"kube-janitor reads its annotations on objects of every kind, and a Cleaner on those that it names: the usual ones were written",
			"add a selector to the Cleaner kube-janitor-marks for each other kind on which you use them")
	}
	for _, plural := range wanted {
		if in.flags.leavesOut(plural) != "" {
			continue
		}
		kind, ok := in.kinds.resource("*", plural)
		if never := neverReads(kind); never != "" {
			in.differs(from, "", plural+" are left out: "+never, "")
		} else if !ok {
			in.lost(from, "", fmt.Sprintf("import does not know the resource %q that kube-janitor includes, so its annotations are not read", plural),
				"add a selector for its kind to the Cleaner kube-janitor-marks")
		} else if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// kindsOfMarked are the kinds of the objects that bear annotations and that kube-janitor looks at.
func (in *janitorInput) kindsOfMarked() (kinds []schema.GroupVersionKind) {
	var seen []schema.GroupVersionKind
	for _, d := range in.marked {
		kind := schema.FromAPIVersionAndKind(d.APIVersion(), d.Kind())
		if slices.Contains(seen, kind) {
			continue
		}
		seen = append(seen, kind)
		switch never, why := neverReads(kind), in.flags.leavesOut(pluralOf(kind)); {
		case never != "":
			in.differs(d, "metadata.annotations", "are not read: "+never, "")
		case why != "":
			in.differs(d, "metadata.annotations", "are not read: "+why,
				"if the object shall expire, "+changeResources)
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// reportOwned says that the annotations of objects with an owner are not read.
func (in *janitorInput) reportOwned() {
	owned := 0
	for _, d := range in.marked {
		if metadata, _ := d.Value["metadata"].(map[string]any); metadata["ownerReferences"] != nil {
			owned++
		}
	}
	if owned == 0 {
		in.differsAll("kube-janitor also reads the annotations of objects that belong to another object; KubeCleaner does not: annotate the owner instead")
		return
	}
	in.differsAll(fmt.Sprintf("%s with an annotation of kube-janitor %s to another object: KubeCleaner reads no annotation there; annotate the owner instead",
		terminal.Counted(owned, "object"), terminal.Plural(int64(owned), "belongs", "belong")))
}
