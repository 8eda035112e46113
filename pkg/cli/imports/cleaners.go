// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
)

// cleaners are those of k8s-cleaner, with their action where it belongs.
func (j *job) cleaners(docs []*manifest.Document) (drafts []*draft, err error) {
	places := map[string]string{}
	for _, d := range docs {
		is, almost := check.IsCleaner(d)
		if almost != nil {
			j.problems = append(j.problems, *almost)
		}
		if !is {
			j.record(d)
			continue
		}
		node := copied(d.Node, d.Node.Style&yamlnode.FlowStyle != 0)
		var c v1alpha1.Cleaner
		read, err := encode(node) // in which a text such as y is in quotes
		if err != nil {
			return nil, err
		}
		_ = yaml.Unmarshal(read, &c) // what is of the wrong type is left out, and the check says so
		j.differences(d, &c)
		j.mistakes(d, &c)
		j.twice(d, places)
		clean(node)
		action := j.moveAction(d, &c, node)
		moveZone(&c, node)
		text, err := encode(node)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, &draft{
			from: d, what: "Cleaner " + d.Name() + " of k8s-cleaner", text: text, cleaner: &c, action: action, node: node,
		})
	}
	return drafts, nil
}

// record says that a record of k8s-cleaner is not carried over.
func (j *job) record(d *manifest.Document) {
	if d.Kind() == "Report" && strings.HasPrefix(d.APIVersion(), v1alpha1.GroupVersion.Group+"/") {
		j.differs(d, "", "is a Report of k8s-cleaner about a run, and is left out: KubeCleaner writes records of its own runs", "")
	}
}

// twice says that an earlier Cleaner has the same name. The places are those of the names so far.
func (j *job) twice(d *manifest.Document, places map[string]string) {
	if first, again := places[d.Name()]; again {
		j.wrong(d, "metadata.name", "is that of the Cleaner at "+first+", too: kubectl apply keeps only the last one",
			"remove one of them, or give it another name")
	} else if d.Name() != "" {
		places[d.Name()] = fmt.Sprintf("%s:%d", d.File, d.Line)
	}
}

// clean leaves out what belongs to one cluster. A request for a run that was answered there would start one here.
func clean(node *yamlnode.Node) {
	remove(node, "status")
	metadata := get(node, "metadata")
	for _, field := range []string{
		"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink",
		"uid", "finalizers",
	} {
		remove(metadata, field)
	}
	annotations := get(metadata, "annotations")
	for _, key := range []string{
		"kubectl.kubernetes.io/last-applied-configuration", v1alpha1.RunRequestedAtAnnotation,
		v1alpha1.CancelRunAnnotation, v1alpha1.ObservedSpecAnnotation,
	} {
		remove(annotations, key)
	}
	if annotations != nil && len(annotations.Content) == 0 {
		remove(metadata, "annotations")
	}
}

// moveAction writes the action that k8s-cleaner takes, which is Delete where none is set, to spec.action. It returns
// that action.
func (j *job) moveAction(d *manifest.Document, c *v1alpha1.Cleaner, node *yamlnode.Node) v1alpha1.Action {
	spec := get(node, "spec")
	if spec == nil {
		return v1alpha1.ActionDelete
	}
	const inSet = "spec.resourcePolicySet.action"
	action, older, was := c.Spec.Action, c.Spec.ResourcePolicySet.Action, ""
	switch {
	case action != nil && older != nil && *action != *older:
		j.lost(
			d,
			inSet,
			fmt.Sprintf("is %s, and spec.action is %s: only one of them can be meant; spec.action was taken", *older, *action),
			"check which one is right",
		)
	case action == nil && older != nil:
		action = older
	case action == nil:
		deletes := v1alpha1.ActionDelete
		action, was = &deletes, ", because none was set"
		j.differs(d, "spec", "there is no action: k8s-cleaner deletes then, and KubeCleaner only reports",
			"the action is written now; --keep-action writes Delete")
	}
	if older != nil {
		j.differs(d, inSet, "is moved to spec.action, where KubeCleaner has it", "")
		remove(get(spec, "resourcePolicySet"), "action")
	}
	if j.keepAction || *action == v1alpha1.ActionScan {
		set(spec, "action", string(*action), "schedule")
		return *action
	}
	set(spec, "action", string(v1alpha1.ActionScan), "schedule").LineComment = fmt.Sprintf(
		"# in k8s-cleaner: %s%s",
		*action,
		was,
	)
	return *action
}

// moveZone moves a time zone out of the schedule.
func moveZone(c *v1alpha1.Cleaner, node *yamlnode.Node) {
	prefix, rest, found := strings.Cut(c.Spec.Schedule, " ")
	_, zone, isZone := strings.Cut(prefix, "TZ=")
	spec := get(node, "spec")
	if !found || !isZone || zone == "" || c.Spec.TimeZone != nil || spec == nil {
		return
	}
	set(spec, "schedule", strings.TrimSpace(rest), "").Style = yamlnode.DoubleQuotedStyle
	set(spec, "timeZone", zone, "schedule")
}

// differences says what KubeCleaner does in another way than k8s-cleaner, on purpose.
func (j *job) differences(d *manifest.Document, c *v1alpha1.Cleaner) {
	spec := &c.Spec
	if spec.OccurrenceThreshold != nil && *spec.OccurrenceThreshold > 1 {
		j.differs(
			d,
			"spec.occurrenceThreshold",
			fmt.Sprintf(
				"here an object is acted on when it matches in %d runs in a row; k8s-cleaner acts sooner",
				*spec.OccurrenceThreshold,
			),
			"",
		)
	}
	if spec.StoreResourcePath != "" {
		j.differs(d, "spec.storeResourcePath", "must be the directory of the operator's flag --copies-path, or be below it",
			"give the operator --copies-path "+spec.StoreResourcePath+" (Helm: copies.existingClaim and copies.path)")
	}
	for _, part := range []string{"ownerReferences", "finalizers"} {
		if strings.Contains(spec.Transform, part) {
			j.differs(d, "spec.transform", "names "+part+": a Transform may change them only with consent",
				"if it changes them, add transformOptions: {allow: ["+strings.ToUpper(part[:1])+part[1:]+"]}")
		}
	}
	for i := range spec.ResourcePolicySet.ResourceSelectors {
		at, s := fmt.Sprintf("spec.resourcePolicySet.resourceSelectors[%d]", i), &spec.ResourcePolicySet.ResourceSelectors[i]
		j.selectorDifferences(d, at, s)
		if spec.Transform != "" && s.Group == rbacv1.GroupName {
			j.differs(d, at+".kind", s.Kind+" is of RBAC: a Transform may change it only with consent",
				"if it is to change it, add transformOptions: {allow: [RBAC]}")
		}
	}
}

func (j *job) selectorDifferences(d *manifest.Document, at string, s *v1alpha1.ResourceSelector) {
	if s.NamespaceSelector != "" {
		j.differs(
			d,
			at+".namespaceSelector",
			"selects nothing where it matches no namespace; k8s-cleaner selects the whole cluster then",
			"",
		)
	}
	if slices.Contains(strings.Split(guard.DefaultProtectedNamespaces, ","), s.Namespace) && s.Namespace != "" {
		j.differs(d, at+".namespace", s.Namespace+" is protected: its objects are reported, and never touched",
			"the operator's flag --protected-namespaces changes the list")
	}
	if s.MetricSource != nil && !strings.Contains(s.MetricSource.URL, ".svc") {
		j.differs(d, at+".metricSource.url", "is no Service of the cluster: the operator asks it only if it is allowed",
			"name the host in the operator's flag --allowed-metric-hosts")
	}
	if namespace := lacksSecret(s.MetricSource); namespace != "" {
		j.differs(d, at+".metricSource.secretRef", "names a Secret of another namespace than the Service's, which is not sent to it",
			"put a Secret into the namespace "+namespace+", or name the host in the operator's flag --allowed-metric-hosts")
	}
	if s.ExcludeDeleted != nil && *s.ExcludeDeleted && strings.Contains(s.Evaluate, "deletionTimestamp") {
		j.differs(d, at+".excludeDeleted",
			"is true, so the script never sees an object that is being deleted; k8s-cleaner writes true itself over a false",
			"if it was false in your manifest, write false again")
	}
}

// lacksSecret is the namespace of the Service that a source asks, if its Secret is in another one. Else it is empty.
func lacksSecret(source *v1alpha1.MetricSource) string {
	if source == nil || source.SecretRef == nil {
		return ""
	}
	at, err := url.Parse(source.URL)
	if err != nil {
		return ""
	}
	namespace := egress.ServiceNamespace(at.Hostname())
	if namespace == source.SecretRef.Namespace {
		return ""
	}
	return namespace
}
