// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard holds the verdicts that keep a run from doing harm: is the object protected, has it matched often
// enough, would the run touch too much? All of it is pure.
package guard

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// DefaultProtectedNamespaces are protected unless the operator has another setting, besides its own namespace: they
// hold what a cluster needs to work.
const DefaultProtectedNamespaces = "kube-system,kube-public,kube-node-lease"

// Protection says what no Cleaner may touch.
type Protection struct {
	// Operator is the operator's own namespace, and Namespaces are those of --protected-namespaces: protected with
	// everything in them.
	Operator   string
	Namespaces []string
}

// namespace says why no Cleaner may touch a namespace, nor what is in it. Empty when that is not so by its name.
func (p Protection) namespace(name string) string {
	switch {
	case name == "":
		return ""
	case name == p.Operator:
		return fmt.Sprintf("namespace %s is the operator's own, which no Cleaner may touch", name)
	case slices.Contains(p.Namespaces, name):
		return fmt.Sprintf("namespace %s is protected (--protected-namespaces)", name)
	}
	return ""
}

// Reason says why no Cleaner of the action may touch the object, or is empty. A Scan touches nothing: its reason is
// that of a Delete. namespace is the metadata of the object's namespace; nil for a cluster-scoped object.
func (p Protection) Reason(action v1alpha1.Action, o object.Object, namespace *metav1.ObjectMeta) (string, error) {
	reason, err := p.Own(action, o)
	if err != nil || reason != "" {
		return reason, err
	}
	return InNamespace(o.Namespace, namespace), nil
}

// In says why no Cleaner may touch what is in the namespace: because of its name, or of its metadata.
func (p Protection) In(name string, metadata *metav1.ObjectMeta) string {
	return cmp.Or(p.namespace(name), InNamespace(name, metadata))
}

// InNamespace says why no Cleaner may touch what is in the namespace, because of the namespace's metadata. Nil is that
// of none.
func InNamespace(name string, metadata *metav1.ObjectMeta) string {
	if metadata == nil {
		return ""
	}
	if by := annotated(metadata.Annotations); by != "" {
		return fmt.Sprintf("namespace %s is annotated %s", name, by)
	}
	return ""
}

// annotated is the annotation that protects, as YAML. It is empty where there is none. Only "false" does not protect:
// who writes "TRUE", "yes" or nothing at all means to.
func annotated(annotations map[string]string) string {
	if value, ok := annotations[v1alpha1.ProtectAnnotation]; ok && value != unprotected {
		return fmt.Sprintf("%s: %q", v1alpha1.ProtectAnnotation, value)
	}
	return ""
}

// unprotected is the value of the annotation that does not protect.
const unprotected = "false"

// Own says why no Cleaner of the action may touch the object because of what it is itself, or is empty.
func (p Protection) Own(action v1alpha1.Action, o object.Object) (string, error) {
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return "", err
	}
	group := o.Kind.Group
	switch why := object.Foundation(o.Kind.GroupKind()); {
	case why != "":
		return fmt.Sprintf("no Cleaner may touch objects of kind %s: %s", o.Kind.Kind, why), nil
	case p.namespace(o.Namespace) != "":
		return p.namespace(o.Namespace), nil
	case IsNamespace(group, o.Kind.Kind) && p.namespace(o.Name) != "":
		return p.namespace(o.Name), nil
	case group == v1alpha1.GroupVersion.Group, metadata.Labels["app.kubernetes.io/part-of"] == "kubecleaner":
		return "it belongs to KubeCleaner", nil
	case annotated(metadata.Annotations) != "":
		return "it is annotated " + annotated(metadata.Annotations), nil
	case metadata.Annotations[v1alpha1.RestoredFromAnnotation] != "":
		return fmt.Sprintf("it was restored from the run with UID %s; to let Cleaners touch it again: %s",
			metadata.Annotations[v1alpha1.RestoredFromAnnotation], confirmation(o)), nil
	}
	if reason := stock(action, o); reason != "" {
		return reason, nil
	}
	if ReadsBody(group, o.Kind.Kind) {
		return claimed(o)
	}
	return "", nil
}

// MarkOwn marks the verdict on an object that is protected because of what it is itself.
func (p Protection) MarkOwn(action v1alpha1.Action, verdict *stage.Verdict) error {
	reason, err := p.Own(action, verdict.Object)
	if reason != "" {
		Protect(action, verdict, reason)
	}
	return err
}

// Protect marks the verdict on an object that is protected for the reason. What deletes or changes objects leaves it
// alone. A Scan, which touches nothing, reports it, with the mark.
func Protect(action v1alpha1.Action, verdict *stage.Verdict, reason string) {
	if action == v1alpha1.ActionScan {
		verdict.Reason = protectedMark + reason
		return
	}
	verdict.Act, verdict.Skip, verdict.Reason = false, v1alpha1.OutcomeProtected, reason
}

// protectedMark begins the reason of a match that a Scan reports although it is protected.
const protectedMark = "protected: "

// IsNamespace reports whether objects of a kind are namespaces. A Project of OpenShift is its Namespace: deleting one
// deletes the other.
func IsNamespace(group, kind string) bool {
	return group == "" && kind == "Namespace" || group == "project.openshift.io" && kind == "Project"
}

// ReadsBody reports whether Own looks at more of the objects of a kind than their metadata.
func ReadsBody(group, kind string) bool { return group == "" && kind == "PersistentVolume" }

// confirmation is the command by which a user lets Cleaners touch an object that was restored.
func confirmation(o object.Object) string {
	resource := o.Kind.Resource
	if o.Kind.Group != "" {
		resource += "." + o.Kind.Group
	}
	command := "kubectl annotate " + resource + " " + o.Name
	if o.Namespace != "" {
		command += " -n " + o.Namespace
	}
	return command + " " + v1alpha1.RestoredFromAnnotation + "-"
}

// claimed protects a PersistentVolume that a claim holds.
func claimed(o object.Object) (string, error) {
	value, err := o.Value()
	if err != nil {
		return "", err
	}
	spec, _ := value["spec"].(map[string]any)
	status, _ := value["status"].(map[string]any)
	if _, ok := spec["claimRef"].(map[string]any); ok && status["phase"] != "Released" && status["phase"] != "Failed" {
		return "it is bound to a PersistentVolumeClaim, or reserved for one", nil
	}
	return "", nil
}
