// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

// janitorFlags are the arguments of kube-janitor that say what it looks at.
type janitorFlags struct {
	included, excluded []string
	// inNamespaces and notInNamespaces are names; nil when nothing is said.
	inNamespaces, notInNamespaces []string
	dryRun, hasInterval           bool
	found                         *manifest.Document
}

// read reads the arguments of a workload that runs kube-janitor. It is false for anything else.
func (f *janitorFlags) read(j *job, d *manifest.Document) bool {
	template := "spec.template.spec"
	if d.Kind() == "CronJob" {
		template = "spec.jobTemplate.spec.template.spec"
	}
	_, containers := d.Find(template + ".containers")
	if containers == nil {
		return false
	}
	for i := range containers.Content {
		at := fmt.Sprintf("%s.containers[%d]", template, i)
		if _, image := d.Find(at + ".image"); image == nil || !strings.Contains(image.Value, janitorImage) {
			continue
		}
		f.found = d
		_, args := d.Find(at + ".args")
		for n := 0; args != nil && n < len(args.Content); n++ {
			name, value, joined := strings.Cut(manifest.Meant(args.Content[n]).Value, "=")
			if !joined && n+1 < len(args.Content) && !strings.HasPrefix(manifest.Meant(args.Content[n+1]).Value, "-") {
				value = manifest.Meant(args.Content[n+1]).Value
			}
			f.take(j, d, fmt.Sprintf("%s.args[%d]", at, n), name, value)
		}
		return true
	}
	return false
}

func (f *janitorFlags) take( //nolint:cyclop // a flat switch over the flags of kube-janitor
	j *job, d *manifest.Document, at, name, value string,
) {
	list := func() []string {
		return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" })
	}
	switch name {
	case "--include-resources":
		f.included = slices.DeleteFunc(list(), func(s string) bool { return s == "all" })
	case "--exclude-resources":
		f.excluded = list()
	case "--include-namespaces":
		f.inNamespaces = slices.DeleteFunc(list(), func(s string) bool { return s == "all" })
	case "--exclude-namespaces":
		f.notInNamespaces = list()
	case "--dry-run":
		f.dryRun = true
	case "--interval":
		f.hasInterval = true
		j.differs(d, at, "kube-janitor looks every "+value+" seconds, and the Cleaners every 10 minutes",
			"change spec.schedule")
	case "--deployment-time-annotation":
		j.lost(d, at, "is not carried over: a Cleaner counts a TTL from the creation of an object",
			"write janitor/expires on these objects, or narrow the Cleaner to objects without the annotation")
	case "--resource-context-hook":
		j.lost(d, at, "is not carried over: a Cleaner runs no code of yours but scripts in Lua", "write what it looks at as a condition")
	case "--delete-notification":
		j.differs(d, at, "kube-janitor announces deletions with an Event; a Cleaner reports what it did in its notifications",
			"add notifications, or forSeconds to the finding")
	case "--once", "--debug", "--quiet", "--parallelism", "--rules-file": // how kube-janitor runs, not what it deletes
	default:
		if strings.HasPrefix(name, "-") {
			j.lost(d, at, terminal.Quoted(name)+" is not carried over: it is not known what it changes",
				"see what it does in kube-janitor, and change the Cleaners by hand")
		}
	}
}

// limit narrows a Cleaner to the namespaces that kube-janitor looks at.
func (f *janitorFlags) limit(c *v1alpha1.Cleaner) {
	excluded := f.notInNamespaces
	if excluded == nil {
		excluded = []string{"kube-system"} // kube-janitor's default
	}
	const name = "kubernetes.io/metadata.name"
	var within []string
	if len(f.inNamespaces) > 0 {
		within = append(within, name+" in ("+strings.Join(f.inNamespaces, ",")+")")
	}
	if len(excluded) > 0 {
		within = append(within, name+" notin ("+strings.Join(excluded, ",")+")")
	}
	selectors := c.Spec.ResourcePolicySet.ResourceSelectors
	for i := range selectors {
		switch {
		case selectors[i].Kind == "Namespace":
			if len(f.inNamespaces) > 0 {
				add(&selectors[i], "included", matchesAny("object.metadata.name", f.inNamespaces))
			}
			if len(excluded) > 0 {
				add(&selectors[i], "not-excluded", "!("+matchesAny("object.metadata.name", excluded)+")")
			}
		case !slices.Contains(clusterScoped, selectors[i].Kind):
			selectors[i].NamespaceSelector = strings.Join(within, ",")
		}
	}
	if f.dryRun {
		c.Spec.Action = ptr.To(v1alpha1.ActionScan)
		c.Spec.BlastRadiusLimit = nil
	}
}

func add(s *v1alpha1.ResourceSelector, name, expression string) {
	s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{
		Name:       unused(name, s.MatchConditions),
		Expression: expression,
	})
}

// usual are the resources that people mark, where nothing says which.
var usual = []string{
	"namespaces", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "pods", "services", "ingresses",
	"configmaps", "secrets",
	"persistentvolumeclaims",
}

// readMarks takes note of an object that bears an annotation of kube-janitor. One that cannot be read keeps the object.
func (in *janitorInput) readMarks(d *manifest.Document) {
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
	gv, err := schema.ParseGroupVersion(d.APIVersion())
	if kind := gv.WithKind(d.Kind()); len(marks) > 0 && err == nil && !slices.Contains(in.marked, kind) {
		in.marked = append(in.marked, kind)
	}
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
	kinds := in.marked
	wanted := in.flags.included
	if len(wanted) == 0 && len(kinds) == 0 {
		wanted = usual
		in.differs(from, "",
			"kube-janitor reads its annotations on objects of every kind, and a Cleaner on those that it names: the usual ones were written",
			"add a selector to the Cleaner kube-janitor-marks for each other kind on which you use them")
	}
	for _, plural := range wanted {
		kind, ok := in.kinds.resource("*", plural)
		if !ok {
			in.lost(from, "", fmt.Sprintf("the resource %q of --include-resources is not known, so its annotations are not read", plural),
				"add a selector for its kind to the Cleaner kube-janitor-marks")
		} else if !slices.Contains(kinds, kind) && !slices.Contains(in.flags.excluded, plural) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
