// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// lookReadable looks at a ConfigMap or a Secret, which something may read through the API.
func lookReadable(f *Finder, o *object.Parts) *candidate {
	c := byProject(f, o)
	if c != nil {
		c.mayUse, c.marks = cmp.Or(fixedReader(o), c.mayUse), labelNamesOf(o)
	}
	return c
}

// readers are what is kept of those who may read ConfigMaps and Secrets through the API, by namespace and name.
type readers struct {
	// applications are the names of workloads, and of what is in their Pods; sets are StatefulSets.
	applications, sets map[[2]string]bool
	// readAll are the kinds of which a role of a namespace lets somebody read all objects, by namespace and kind.
	readAll map[[2]string]bool
	// makers say by namespace what lets somebody make Pods there, or is run in Pods.
	makers map[string]string
	// deployers are accounts that may make anything in a namespace.
	deployers map[string]string
	// strangers are the accounts of other namespaces that may read all Secrets of a namespace.
	strangers map[string]string
	// sidecars are the labels by which sidecars find what they read.
	sidecars map[string]bool
}

func newReaders() readers {
	return readers{
		applications: map[[2]string]bool{}, sets: map[[2]string]bool{}, readAll: map[[2]string]bool{},
		makers: map[string]string{}, deployers: map[string]string{}, strangers: map[string]string{},
		sidecars: map[string]bool{},
	}
}

// mayRead reports whether something is kept of the objects of a kind: of roles and who has them, and of what runs Pods.
func (f *Finder) mayRead(kind schema.GroupKind) bool {
	return isGiven(kind) || slices.Contains(ofRuns, kind) || slices.Contains(f.Table.PodKinds(), kind)
}

// ofRuns are kinds whose controllers make Pods for each run, and the runs are deleted soon: they name claims, Secrets
// and accounts that nothing else names.
var ofRuns = []schema.GroupKind{
	{Group: "tekton.dev", Kind: "Pipeline"},
	{Group: "tekton.dev", Kind: "Task"},
	{Group: "pipelinesascode.tekton.dev", Kind: "Repository"},
}

// readableKinds are what may be read, with their resources in roles.
var readableKinds = map[schema.GroupKind]string{configMaps: "configmaps", secrets: "secrets"}

func (r *row) isReadable() bool { return r.named && readableKinds[r.kind] != "" }

// isUsedByPods reports whether a Pod that somebody makes may use the objects of a row.
func (r *row) isUsedByPods() bool {
	return r.isReadable() || r.named && (r.kind == claims || r.kind == accounts)
}

// noteReader takes note of a role, or of a workload.
func (f *Finder) noteReader(o *object.Parts) {
	switch {
	case o.Kind.GroupKind() == roleBindings:
		f.noteBound(o)
		return
	case o.Kind.GroupKind() == clusterRoles:
		f.noteGiven(o)
		return
	case o.Kind.GroupKind() == roles:
		f.noteRole(o)
		f.noteGiven(o)
		return
	case slices.Contains(ofRuns, o.Kind.GroupKind()):
		f.noteMaker(o)
	case isCopy(o):
		return
	case o.Kind.GroupKind() == statefulSets:
		f.noteName(f.sets, o, o.Name)
	}
	f.Table.EachTemplate(o, func(metadata, spec object.JSON) {
		for _, name := range namesOfApplication(metadata, spec) {
			f.noteName(f.applications, o, name)
		}
		f.noteName(f.applications, o, o.Name)
		f.noteSidecars(spec)
	})
}

// noteRole takes note of what a role of a namespace lets somebody read or make.
func (f *Finder) noteRole(o *object.Parts) {
	for rule := range o.At("rules").Elements() {
		for kind, resource := range readableKinds {
			if readsAll(rule, resource) {
				f.noteName(f.readAll, o, kind.Kind)
			}
		}
		if makesPods(rule) {
			f.noteMaker(o)
		}
	}
}

// noteMaker takes note of what lets somebody make Pods in its namespace.
func (f *Finder) noteMaker(o *object.Parts) {
	if f.makers[o.Namespace] == "" {
		name := clonedName(o)
		f.makers[name.Namespace] = name.String() + " allows creating Pods in the namespace"
		if slices.Contains(ofRuns, o.Kind.GroupKind()) {
			f.makers[name.Namespace] = "runs of " + name.String() + " make Pods in the namespace"
		}
		f.bytes += int64(160 + len(name.Namespace)*2 + len(name.Name))
	}
}

// makingPods are resources that programs make to run Pods, from templates of their own. Others are what people deploy.
var makingPods = map[string][]string{
	"":                     {"pods"},
	jobs.Group:             {"jobs"},
	"argoproj.io":          {"workflows", "cronworkflows", "workflowtaskresults"}, // the last one for its executor
	"batch.volcano.sh":     {"jobs"},
	"jobset.x-k8s.io":      {"jobsets"},
	"kubeflow.org":         {"pytorchjobs", "tfjobs", "mpijobs"},
	"ray.io":               {"rayjobs", "rayclusters"},
	"sparkoperator.k8s.io": {"sparkapplications", "scheduledsparkapplications"},
	"tekton.dev":           {"pipelineruns", "taskruns"},
	"trainer.kubeflow.org": {"trainjobs"},
	"workspace.devfile.io": {"devworkspaces"},
}

// makesPods reports whether a rule names Pods, Jobs or the like, and lets somebody make them. One for all kinds is for
// people who deploy.
func makesPods(rule object.JSON) bool {
	for resource := range rule.Field("resources").Elements() {
		text := resource.Text()
		for group, resources := range makingPods {
			if slices.Contains(resources, text) && allows(rule, group, []string{text}, []string{"create"}) {
				return true
			}
		}
	}
	return false
}

// isCopy reports whether a Pod or what makes it is made from the template of a workload, which has the names.
func isCopy(o *object.Parts) bool {
	owner, _ := graph.Controller(o)
	return slices.Contains([]schema.GroupKind{
		deployments, replicaSets, statefulSets, daemonSets, controllers, cronJobs, jobs,
	}, owner.GroupKind)
}

// namesOfApplication are what the application in a Pod may be called, beside the workload: Spring looks for the
// ConfigMaps NAME and NAME-PROFILE.
func namesOfApplication(metadata, spec object.JSON) []string {
	labels := metadata.Field("labels")
	names := []string{
		spec.Field("serviceAccountName").Text(),
		labels.Field("app").Text(),
		labels.Field("app.kubernetes.io/name").Text(),
		labels.Field("app.kubernetes.io/instance").Text(),
	}
	for container := range spec.Field("containers").Elements() {
		names = append(append(names, container.Field("name").Text()), springNames(container)...)
	}
	return names
}

// noteName takes note of a name in the namespace of an object.
func (f *Finder) noteName(to map[[2]string]bool, o *object.Parts, name string) {
	if name != "" && !to[[2]string{o.Namespace, name}] {
		to[[2]string{strings.Clone(o.Namespace), strings.Clone(name)}] = true
		f.bytes += int64(96 + len(o.Namespace) + len(name))
	}
}

// readsAll reports whether a rule lets somebody read a resource of the core group, whatever the name.
func readsAll(rule object.JSON, resource string) bool {
	for range rule.Field("resourceNames").Elements() {
		return false
	}
	return allows(rule, "", []string{resource}, []string{"get", "list", "watch"})
}

// makerOf says that somebody may make Pods that use a candidate: their template may be in a file, or in a program.
// Empty when nobody is known to. Where roles may not be read, it is unknown anyway whether the candidate is used.
func (f *Finder) makerOf(c *candidate) string {
	switch {
	case !c.row.isUsedByPods():
		return ""
	case f.makers[c.namespace] != "":
		return f.makers[c.namespace] + ", and such Pods may use it"
	case c.kind.GroupKind() == claims && f.deployers[c.namespace] != "":
		return f.deployers[c.namespace] + ", and Pods that it makes may use it"
	case f.mayBeGiven():
		return "a RoleBinding may allow creating Pods that use it, and RoleBindings or ClusterRoles could not be read"
	}
	return ""
}

// readerOf says what may read a ConfigMap or a Secret through the API. Empty when nobody is known to.
func (f *Finder) readerOf(c *candidate) string {
	if !c.row.isReadable() {
		return ""
	}
	if set := f.setOf(c.namespace, c.name); set != "" {
		return "its name begins like that of a Pod of StatefulSet " + c.namespace + "/" + set
	}
	application := f.applicationOf(c.namespace, c.name)
	if application != "" && f.readAll[[2]string{c.namespace, c.kind.Kind}] {
		return "its name begins with that of application " + application + ", and a role allows reading every " +
			c.kind.Kind + " of the namespace"
	}
	return ""
}

// applicationOf is the application that has the name, or the name up to a dash, or to a dot as Steeltoe writes it.
// Empty when there is none. Each that uses Spring is called "application", too.
func (f *Finder) applicationOf(namespace, name string) string {
	for i := range len(name) + 1 {
		isEnd := i == len(name) || name[i] == '-' || name[i] == '.'
		if isEnd && (name[:i] == "application" || f.applications[[2]string{namespace, name[:i]}]) {
			return name[:i]
		}
	}
	return ""
}

// setOf is the StatefulSet of which a Pod may have the name, or the name up to a dash or a dot. Empty when there is
// none.
func (f *Finder) setOf(namespace, name string) string {
	for i := range len(name) {
		if name[i] != '-' {
			continue
		}
		rest := strings.TrimLeft(name[i+1:], "0123456789")
		isNumber := len(rest) < len(name)-i-1
		if isNumber && (rest == "" || rest[0] == '-' || rest[0] == '.') && f.sets[[2]string{namespace, name[:i]}] {
			return name[:i]
		}
	}
	return ""
}

// whyWeak says why something may use a candidate although nothing names it. Empty when nothing is known to.
func (f *Finder) whyWeak(c *candidate) string {
	name := c.object()
	switch {
	case c.reported:
		return ""
	case c.mayUse != "":
		return c.mayUse
	case c.row.pods:
		return cmp.Or(f.lacks(name), f.inMesh(c))
	}
	return cmp.Or(
		f.inText(c), f.ofUnusualType(c), f.sidecarOf(c), f.readerOf(c), f.claimedAgain(c), f.madeOfName(c), f.makerOf(c),
		f.strangerOf(c), f.binderOf(c),
	)
}
