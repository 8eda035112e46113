// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// effects are what values render to for which config has no overlay, so that TestDrift compares nothing: by the file of ci, by the object,
// and by the path of a field, the field's value. An object without fields must not be there.
var effects = map[string]map[string]map[string]string{
	"namespaces": {
		"Role default/kubecleaner-cleaner-targets":            {"rules": targetRules},
		"Role kube-public/kubecleaner-cleaner-targets":        {"rules": targetRules},
		"RoleBinding default/kubecleaner-cleaner-targets":     {"roleRef": targetRole, "subjects": manager},
		"RoleBinding kube-public/kubecleaner-cleaner-targets": {"roleRef": targetRole, "subjects": manager},
		"ClusterRole /kubecleaner-cleaner-targets":            nil,
		"ClusterRoleBinding /kubecleaner-cleaner-targets":     nil,
	},
	"pod-monitor": {
		"PodMonitor projectsveltos/kubecleaner-manager": {
			"metadata labels release": "kube-prometheus",
			"spec": `{selector: {matchLabels: ` + podLabels + `}, podMetricsEndpoints: [{port: metrics, path: /metrics, scheme: https, interval: 30s,
			  authorization: {credentials: {name: prometheus-token, key: token}}, tlsConfig: {serverName: kubecleaner-metrics.projectsveltos.svc,
			  ca: {secret: {name: monitoring-cert, key: ca.crt}}}}]}`,
		},
		"PrometheusRule projectsveltos/kubecleaner": {"metadata labels release": "kube-prometheus"},
		"ClusterRoleBinding /kubecleaner-metrics-reader": {
			"roleRef":  `{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kubecleaner-metrics-reader}`,
			"subjects": `[{kind: ServiceAccount, name: prometheus-k8s, namespace: monitoring}]`,
		},
		"ClusterRole /kubecleaner-cleaner-viewer-role": {"metadata labels rbac.authorization.k8s.io/aggregate-to-view": `"true"`},
		"ClusterRole /kubecleaner-cleaner-editor-role": {"metadata labels rbac.authorization.k8s.io/aggregate-to-edit": `"true"`},
		"Deployment projectsveltos/kubecleaner-manager": {
			"spec template spec volumes 0": `{name: diagnostics-cert, secret: {secretName: monitoring-cert, optional: true}}`,
		},
	},
	"network": {
		"NetworkPolicy projectsveltos/kubecleaner-manager": {
			"spec": `{podSelector: {matchLabels: ` + podLabels + `}, policyTypes: [Ingress, Egress],
			  ingress: [{ports: [{port: metrics}], from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]},
			    {ports: [{port: health}]}],
			  egress: [{ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]}, {ports: [{port: 443}, {port: 6443}]}]}`,
		},
	},
	"replicas": {
		"PodDisruptionBudget projectsveltos/kubecleaner-manager": {"spec": `{maxUnavailable: 1, selector: {matchLabels: ` + podLabels + `}}`},
		"Deployment projectsveltos/kubecleaner-manager": {
			"spec replicas": "2", "spec template metadata labels": podLabels, "spec template spec priorityClassName": "system-cluster-critical",
			"spec template spec tolerations": `[{key: infra, operator: Exists}]`,
		},
	},
	"names": {
		"Deployment projectsveltos/janitor-manager": {
			"metadata labels team": "platform", "spec template spec serviceAccountName": "janitor",
			"spec template spec containers 0 image": "registry.example.com/mirror/kubecleaner" +
				"@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			"spec template spec containers 0 imagePullPolicy":              "Always",
			"spec template spec imagePullSecrets":                          `[{name: registry}]`,
			"spec template metadata labels sidecar.istio.io/inject":        `"false"`,
			"spec template metadata annotations example.com/owner":         "platform",
			"spec template metadata labels app.kubernetes.io/component":    "manager",
			"spec template metadata labels app.kubernetes.io/name":         "kubecleaner",
			"spec selector matchLabels":                                    podLabels,
			"spec template spec securityContext seccompProfile":            `{type: RuntimeDefault}`,
			"spec template spec containers 0 securityContext capabilities": `{drop: [ALL]}`,
		},
		"Pod projectsveltos/janitor-test-version": {
			"spec containers 0 image": "registry.example.com/mirror/kubecleaner" +
				"@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			"spec securityContext":              `{runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}`,
			"spec containers 0 securityContext": `{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}`,
			"spec automountServiceAccountToken": "false",
			"spec containers 0 args":            `["--version"]`,
		},
		"ServiceAccount projectsveltos/janitor":    nil,
		"ClusterRole /janitor-cleaner-viewer-role": nil,
		"ClusterRole /janitor-cleaner-editor-role": nil,
	},
	"extras": {
		"Deployment projectsveltos/kubecleaner-manager": {
			"spec template spec containers 0 args":           `[--leader-elect, --diagnostics-cert-dir=/diagnostics-cert, --copies-path=/copies, --s3-secret=kubecleaner-s3]`,
			"spec template spec containers 0 volumeMounts 1": `{name: copies, mountPath: /copies}`,
			"spec template spec volumes 1":                   `{name: copies, persistentVolumeClaim: {claimName: kubecleaner-copies}}`,
			"spec template spec securityContext fsGroup":     "65532",
		},
		"PersistentVolumeClaim /kubecleaner-copies": {"spec": `{accessModes: [ReadWriteMany], resources: {requests: {storage: 5Gi}}}`},
		"ConfigMap /kubecleaner-extra":              {"data": `{namespace: projectsveltos}`},
	},
}

const (
	podLabels   = `{app.kubernetes.io/name: kubecleaner, app.kubernetes.io/component: manager}`
	targetRules = `[{apiGroups: ["", apps, batch], resources: [configmaps, deployments, jobs, pods], verbs: [get, list, delete]}]`
	targetRole  = `{apiGroup: rbac.authorization.k8s.io, kind: Role, name: kubecleaner-cleaner-targets}`
	manager     = `[{kind: ServiceAccount, name: kubecleaner-manager, namespace: projectsveltos}]`
)

// TestEffects: each value has the effect that its comment says.
func TestEffects(t *testing.T) {
	files := ciValues(t)
	for file, wants := range effects {
		t.Run(file, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				r, err := h.render("kubecleaner", chartDir, files[file])
				must(t, err)
				got := objects(t, r.manifest+r.tests)
				for name, fields := range wants {
					if (got[name] != nil) != (fields != nil) {
						t.Errorf("%s is there: %t", name, got[name] != nil)
						continue
					}
					for path, want := range fields {
						hasField(t, got[name], path, want)
					}
				}
			})
		})
	}
}

// hasField compares the field at a path, whose parts are keys of maps and indices of lists, with YAML.
func hasField(t *testing.T, o *unstructured.Unstructured, path, want string) {
	t.Helper()
	var value any = o.Object
	for part := range strings.FieldsSeq(path) {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				t.Fatalf("%s: %s has no %s", key(o), path, part)
			}
			value = v[i]
		default:
			t.Fatalf("%s: %s goes on below %v", key(o), path, v)
		}
	}
	text, err := json.Marshal(value) // both become numbers of the same type
	must(t, err)
	var got, wanted any
	must(t, json.Unmarshal(text, &got))
	must(t, yaml.Unmarshal([]byte(want), &wanted))
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", key(o), path, diff)
	}
}

// TestCopiesPath: the volume is where the flag says, so that Cleaners with a storeResourcePath of k8s-cleaner run unchanged.
func TestCopiesPath(t *testing.T) {
	for text, want := range map[string]string{`{copies: {existingClaim: a}}`: "/copies", `{copies: {existingClaim: a, path: /pvc/cleaner}}`: "/pvc/cleaner"} {
		eachHelm(t, func(t *testing.T, h helm) {
			r, err := h.render("kubecleaner", chartDir, values(t, text))
			must(t, err)
			deployment := objects(t, r.manifest)["Deployment projectsveltos/"+managers]
			hasField(t, deployment, "spec template spec containers 0 args 2", "--copies-path="+want)
			hasField(t, deployment, "spec template spec containers 0 volumeMounts 1", "{name: copies, mountPath: "+want+"}")
		})
	}
}

// TestDefinitions: the chart brings the CustomResourceDefinitions, and keeps them on uninstall, only if the values say so.
func TestDefinitions(t *testing.T) {
	for text, want := range map[string]struct{ all, kept int }{
		`{}`: {4, 4}, `{crds: {keep: false}}`: {4, 0}, `{crds: {install: false}}`: {0, 0},
	} {
		eachHelm(t, func(t *testing.T, h helm) {
			r, err := h.render("kubecleaner", chartDir, values(t, text))
			must(t, err)
			all, kept := 0, 0
			for _, o := range objects(t, r.manifest) {
				if o.GetKind() != "CustomResourceDefinition" {
					continue
				}
				all++
				if o.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
					kept++
				}
			}
			if all != want.all || kept != want.kept {
				t.Errorf("with %s there are %d CustomResourceDefinitions, of which %d are kept, want %+v", text, all, kept, want)
			}
		})
	}
}

// TestCommonLabels: every object has them.
func TestCommonLabels(t *testing.T) {
	r, err := helm4{}.render("kubecleaner", chartDir, ciValues(t)["names"])
	must(t, err)
	for name, o := range objects(t, r.manifest+r.tests) {
		if o.GetLabels()["team"] != "platform" {
			t.Errorf("%s has the labels %v", name, o.GetLabels())
		}
	}
}

// TestReferences: the operator reads from the ConfigMap what the values declare.
func TestReferences(t *testing.T) {
	v := ciValues(t)["extras"]
	text, err := yaml.Marshal(v["references"])
	must(t, err)
	want, err := graph.Parse(text, nil)
	must(t, err)
	if len(want) != 1 || len(want[0].References) != 2 {
		t.Fatalf("the values declare %+v", want)
	}
	eachHelm(t, func(t *testing.T, h helm) {
		r, err := h.render("kubecleaner", chartDir, v)
		must(t, err)
		declared := objects(t, r.manifest)["ConfigMap projectsveltos/kubecleaner-references"]
		if declared == nil {
			t.Fatal("there is no ConfigMap kubecleaner-references")
		}
		data, _, err := unstructured.NestedStringMap(declared.Object, "data")
		must(t, err)
		got, err := graph.Parse([]byte(data["values.yaml"]), nil)
		must(t, err)
		if !reflect.DeepEqual(want, got) || len(data) != 1 {
			t.Errorf("of %v the operator reads %+v, want %+v", data, got, want)
		}
	})
}
