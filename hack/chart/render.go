// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// What a template says in place of the names in config.
const (
	fullname       = `{{ include "kubecleaner.fullname" . }}`
	serviceAccount = `{{ include "kubecleaner.serviceAccountName" . }}`
	namespace      = `{{ .Release.Namespace }}`
)

// render writes one object as a template.
func render(out *strings.Builder, o object) error {
	own, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	if strings.Contains(string(own), "{{") {
		return errors.New("its braces would be Helm's: copy the text into files/ instead")
	}
	within, err := namespaced(o.text("kind"))
	if err != nil {
		return err
	}
	fmt.Fprintf(
		out,
		"---\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n",
		o.text("apiVersion"),
		o.text("kind"),
		rename(o.text("kind"), o.name()),
	)
	if within {
		fmt.Fprintf(out, "  namespace: %s\n", namespace)
	}
	out.WriteString("  labels:\n    {{- include \"kubecleaner.labels\" . | nindent 4 }}\n")
	out.WriteString(aggregated[o.name()])
	annotations(out, o)
	return rest(out, o)
}

// annotations writes those of the object. A CustomResourceDefinition has those that keep it, with its objects, on
// uninstall, if the values say so.
func annotations(out *strings.Builder, o object) {
	crd := o.text("kind") == "CustomResourceDefinition"
	own, _ := o.metadata()["annotations"].(map[string]any)
	if crd || len(own) > 0 {
		out.WriteString("  annotations:\n")
	}
	kept := ""
	for _, key := range slices.Sorted(maps.Keys(own)) {
		line := fmt.Sprintf("    %s: %q\n", key, own[key])
		if crd && slices.Contains(keeping, key) {
			kept += line
			continue
		}
		out.WriteString(line)
	}
	if crd {
		fmt.Fprintf(out, "    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n%s    {{- end }}\n", kept)
	}
}

// keeping are the annotations by which Argo CD and Flux keep an object.
var keeping = []string{"argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune"}

// aggregated are the labels that make a role of ours a part of one of the cluster's, where the values say so.
var aggregated = map[string]string{
	"cleaner-viewer-role": aggregate("View"), "cleaner-editor-role": aggregate("Edit"),
}

func aggregate(role string) string {
	return fmt.Sprintf(
		"    {{- if .Values.rbac.aggregateTo%s }}\n    rbac.authorization.k8s.io/aggregate-to-%s: \"true\"\n    {{- end }}\n",
		role,
		strings.ToLower(role),
	)
}

// rest writes all fields but the first ones, with the names that the release gives.
func rest(out *strings.Builder, o object) error {
	fields := maps.Clone(o)
	for _, done := range []string{"apiVersion", "kind", "metadata"} {
		delete(fields, done)
	}
	if o.text("kind") != "CustomResourceDefinition" {
		replace(map[string]any(fields), "")
	}
	text, err := yaml.Marshal(fields)
	if err != nil {
		return err
	}
	out.Write(text)
	return nil
}

// replace puts the release's names and namespace into references to our own objects. kind is what the map above says
// that it names.
func replace(value any, kind string) {
	switch v := value.(type) {
	case map[string]any:
		if own, ok := v["kind"].(string); ok {
			kind = own
		}
		for key, field := range v {
			text, isText := field.(string)
			switch {
			case !isText:
				replace(field, kind)
			case key == "name" && ours(kind, text), key == "policyName":
				v[key] = rename(kind, text)
			case key == "namespace":
				v[key] = namespace
			}
		}
	case []any:
		for i, item := range v {
			if item == "projectsveltos" { // namespaces of a FlowSchema
				v[i] = namespace
				continue
			}
			replace(item, kind)
		}
	}
}

// ours says whether a name in a reference is that of an object of the chart.
func ours(kind, name string) bool {
	if strings.HasPrefix(kind, "Cluster") || strings.HasPrefix(kind, "Role") || kind == "ServiceAccount" {
		return true
	}
	return name == "kubecleaner" || strings.HasPrefix(name, "kubecleaner-")
}

// rename returns the name that an object of config has in a release. config/rbac has names without the prefix, which
// config/default adds.
func rename(kind, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "kubecleaner"), "-")
	switch {
	case kind == "CustomResourceDefinition":
		return name
	case kind == "ServiceAccount":
		return serviceAccount
	case name == "":
		return fullname
	}
	return fullname + "-" + name
}
