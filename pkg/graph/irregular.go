// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const rbacGroup = "rbac.authorization.k8s.io"

var (
	configMapKind      = schema.GroupKind{Kind: "ConfigMap"}
	secretKind         = schema.GroupKind{Kind: "Secret"}
	serviceKind        = schema.GroupKind{Kind: "Service"}
	volumeKind         = schema.GroupKind{Kind: "PersistentVolume"}
	claimKind          = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	serviceAccountKind = schema.GroupKind{Kind: "ServiceAccount"}
	roleKind           = schema.GroupKind{Group: rbacGroup, Kind: "Role"}
	clusterRoleKind    = schema.GroupKind{Group: rbacGroup, Kind: "ClusterRole"}
)

// irregularity is what the objects of a kind name in a way that no Reference can say.
type irregularity struct {
	// names are the kinds that they may name.
	names []schema.GroupKind
	add   func(*walker)
	// about says it for people.
	about string
}

// irregular are the kinds with references that the table cannot hold.
var irregular = map[schema.GroupKind]irregularity{
	roleKind: {
		names: readable,
		add:   addRules,
		about: "`rules[].resourceNames` of ConfigMaps, Secrets, PersistentVolumeClaims, ServiceAccounts, Roles and ClusterRoles (strength Reads)",
	},
	clusterRoleKind: {
		names: readable,
		add:   addRules,
		about: "`rules[].resourceNames` of ConfigMaps, Secrets, PersistentVolumeClaims, ServiceAccounts, Roles of any namespace, and of ClusterRoles " +
			"(strength Reads); " +
			"ClusterRoles that `aggregationRule` selects by their labels",
	},
	{Group: rbacGroup, Kind: "RoleBinding"}: {
		names: []schema.GroupKind{serviceAccountKind},
		add:   addSubjects,
		about: aboutSubjects,
	},
	{Group: rbacGroup, Kind: "ClusterRoleBinding"}: {
		names: []schema.GroupKind{serviceAccountKind},
		add:   addSubjects,
		about: aboutSubjects,
	},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}: {
		names: []schema.GroupKind{serviceAccountKind}, add: addFlowSubjects,
		about: "`spec.rules[].subjects[].serviceAccount`, unless it is for all accounts of a namespace",
	},
	{Kind: "ResourceQuota"}: {
		names: []schema.GroupKind{storageClassKind},
		add:   addQuotas,
		about: "`spec.hard` limits StorageClasses, as in `fast.storageclass.storage.k8s.io/requests.storage`",
	},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         ofDevices,
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: ofDevices,
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:           ofDevices,
	storageClassKind: classesOfDrivers,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:                  classesOfDrivers,
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}:           classesOfDrivers,
	{Group: "groupsnapshot.storage.k8s.io", Kind: "VolumeGroupSnapshotClass"}: classesOfDrivers,
	volumeKind: {
		names: inDrivers,
		about: "the texts for its driver may name ConfigMaps, PersistentVolumeClaims and Services",
	},
	{Group: "scheduling.k8s.io", Kind: "Workload"}:             groupsOfPods,
	{Group: "scheduling.k8s.io", Kind: "PodGroup"}:             groupsOfPods,
	{Group: "scheduling.k8s.io", Kind: "CompositePodGroup"}:    groupsOfPods,
	{Group: "external-secrets.io", Kind: "SecretStore"}:        remoteStores,
	{Group: "external-secrets.io", Kind: "ClusterSecretStore"}: remoteStores,
	{Group: "argoproj.io", Kind: "AppProject"}:                 projects,
	pushKind: {names: []schema.GroupKind{secretKind}, about: "`spec.selector.secret.selector` chooses Secrets by their labels"},
	groupKind: {
		names: []schema.GroupKind{claimKind},
		about: "`spec.source.selector` chooses PersistentVolumeClaims by their labels",
	},
	bundleKind: {
		names: []schema.GroupKind{configMapKind, secretKind},
		about: "`spec.sources[].configMap.selector` and `spec.sources[].secret.selector` choose ConfigMaps and Secrets by their labels, in any namespace",
	},
	validatingPolicyKind:  {names: parameterKinds, about: aboutPolicies},
	mutatingPolicyKind:    {names: parameterKinds, about: aboutPolicies},
	validatingBindingKind: {names: parameterKinds, about: aboutParameters},
	mutatingBindingKind:   {names: parameterKinds, about: aboutParameters},
}

// inDrivers are the kinds that drivers of storage know by their names, beside Secrets.
var inDrivers = []schema.GroupKind{configMapKind, claimKind, serviceKind}

// classesOfDrivers are classes with parameters that a driver defines.
var classesOfDrivers = irregularity{
	names: append([]schema.GroupKind{secretKind, storageClassKind}, inDrivers...),
	add:   addParameters,
	about: "each of `parameters` whose key ends like a field for the name of a Secret, for example `backendSecretName` (strength Learned); " +
		"the other texts for its driver may name ConfigMaps, PersistentVolumeClaims, Services and StorageClasses",
}

// inDevices are the kinds that drivers of devices know by their names.
var inDevices = []schema.GroupKind{configMapKind, secretKind, claimKind, serviceAccountKind}

// ofDevices have parameters that only the driver of a device knows.
var ofDevices = irregularity{
	names: inDevices,
	add:   addDevices,
	about: "what looks like a reference to a ConfigMap, Secret, PersistentVolumeClaim or ServiceAccount in `opaque.parameters`, by the names of its " +
		"fields (strength Learned)",
}

var groupsOfPods = irregularity{
	names: []schema.GroupKind{priorityClassKind},
	add:   addPriorities,
	about: "`priorityClassName` in any field of `spec`: groups of Pods may contain other groups",
}

const (
	aboutSubjects = "subjects of kind User named `system:serviceaccount:NAMESPACE:NAME`; groups `system:serviceaccounts`, " +
		"`system:serviceaccounts:NAMESPACE` and `system:authenticated`, which are for all accounts, and so do not prove that one account is used (strength Hints)"
	aboutPolicies   = "`spec.paramKind` names the kind of the parameters that its bindings choose by labels"
	aboutParameters = "ConfigMaps and Secrets that `spec.paramRef.selector` chooses by their labels, in the namespace of `paramRef`, or in any namespace " +
		"if it names none (strength Reads if the selector is empty, or if the policy does not name a kind)"
)

// readable are the kinds that somebody may read through the API, or bind, by a name that a rule has.
var readable = []schema.GroupKind{configMapKind, secretKind, claimKind, serviceAccountKind, roleKind, clusterRoleKind}

// readableAs are their resources in rules.
var readableAs = []string{"configmaps", "secrets", "persistentvolumeclaims", "serviceaccounts", "roles", "clusterroles"}

// addRules adds the objects that a role lets somebody read by name.
func addRules(w *walker) {
	for rule := range w.object.Field("rules").Elements() {
		names := rule.Field("resourceNames")
		if names.Type() != object.List {
			continue
		}
		for i, kind := range readable {
			if !isFor(rule, kind.Group, readableAs[i]) {
				continue
			}
			for name := range names.Elements() {
				w.named(Name{GroupKind: kind, Namespace: w.own, Name: name.Text()}, "rules[].resourceNames[]", Reads)
			}
		}
	}
}

// isFor reports whether a rule is for a resource of a group, or a part of it: serviceaccounts/token makes tokens of an
// account.
func isFor(rule object.JSON, group, resource string) bool {
	return hasText(rule.Field("apiGroups"), func(text string) bool { return text == group || text == "*" }) &&
		hasText(rule.Field("resources"), func(text string) bool {
			text, _, _ = strings.Cut(text, "/")
			return text == resource || text == "*"
		})
}

func hasText(list object.JSON, is func(string) bool) bool {
	for element := range list.Elements() {
		if element.Type() == object.String && is(element.Text()) {
			return true
		}
	}
	return false
}

// named adds a reference of an irregular kind. Rights know no patterns: a "*" in one of their names is no name.
func (w *walker) named(to Name, path string, strength Strength) {
	if to.Name != "" && len(to.Name) <= maxName && !strings.ContainsAny(to.Name, "*#") {
		w.each(Edge{To: to, Path: path, Strength: strength})
	}
}

// addSubjects adds the ServiceAccounts that stand in a binding as users and groups.
func addSubjects(w *walker) {
	// Each cluster lets all accounts do a few things. That says of none that it is used.
	stock := w.object.At("metadata", "labels", "kubernetes.io/bootstrapping").Text() == "rbac-defaults"
	for subject := range w.object.Field("subjects").Elements() {
		name := subject.Field("name").Text()
		switch subject.Field("kind").Text() {
		case "User":
			if rest, ok := strings.CutPrefix(name, "system:serviceaccount:"); ok {
				namespace, account, _ := strings.Cut(rest, ":")
				w.named(Name{GroupKind: serviceAccountKind, Namespace: namespace, Name: account}, "subjects[].name", Names)
			}
		case "Group":
			if name == "system:authenticated" {
				name = "system:serviceaccounts"
			}
			namespace, ok := strings.CutPrefix(name, "system:serviceaccounts")
			if ok && !stock && (namespace == "" || namespace[0] == ':') {
				all := Name{GroupKind: serviceAccountKind, Namespace: strings.TrimPrefix(namespace, ":"), Name: "*"}
				if all.Namespace == "" {
					all.Namespace = "*"
				}
				w.each(Edge{To: all, Path: "subjects[].name", Strength: Hints})
			}
		}
	}
}

// addFlowSubjects adds the ServiceAccounts whose requests a FlowSchema sorts.
func addFlowSubjects(w *walker) {
	for rule := range w.object.At("spec", "rules").Elements() {
		for subject := range rule.Field("subjects").Elements() {
			account := subject.Field("serviceAccount")
			name := Name{
				GroupKind: serviceAccountKind,
				Namespace: account.Field("namespace").Text(),
				Name:      account.Field("name").Text(),
			}
			w.named(name, "spec.rules[].subjects[].serviceAccount.name", Names)
		}
	}
}

// namesBesides are the kinds that objects of a kind may name besides what the table says.
func namesBesides(kind schema.GroupKind) []schema.GroupKind {
	return slices.Clone(irregular[kind].names)
}
