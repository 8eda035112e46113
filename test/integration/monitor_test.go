// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// rendered decodes the one object of the kind that a kustomization renders, strictly, and that has the suffix in its name.
func rendered[T any](t *testing.T, dir, kind, suffix string) (object T) {
	t.Helper()
	found := 0
	for doc := range strings.SplitSeq(kubectl(t, "", "kustomize", dir), "\n---\n") {
		var meta metav1.PartialObjectMetadata
		must(t, yaml.Unmarshal([]byte(doc), &meta))
		if meta.Kind == kind && strings.HasSuffix(meta.Name, suffix) {
			must(t, yaml.UnmarshalStrict([]byte(doc), &object))
			found++
		}
	}
	if found != 1 {
		t.Fatalf("%s renders %d of %s %s", dir, found, kind, suffix)
	}
	return object
}

// serviceMonitor is what of one is used; anything else is refused.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port            string `json:"port"`
			Path            string `json:"path"`
			Scheme          string `json:"scheme"`
			BearerTokenFile string `json:"bearerTokenFile"`
			TLSConfig       struct {
				CA struct {
					Secret corev1.SecretKeySelector `json:"secret"`
				} `json:"ca"`
				ServerName string `json:"serverName"`
			} `json:"tlsConfig"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// TestServiceMonitorFindsTheMetrics: what config/prometheus asks for is what config/default serves.
func TestServiceMonitorFindsTheMetrics(t *testing.T) {
	t.Parallel()
	const overlay = "../../config/default"
	monitor := rendered[serviceMonitor](t, "../../config/prometheus", "ServiceMonitor", "")
	service := rendered[corev1.Service](t, overlay, "Service", "metrics")
	manager := rendered[appsv1.Deployment](t, overlay, "Deployment", "manager")
	reader := rendered[rbacv1.ClusterRole](t, overlay, "ClusterRole", "metrics-reader")

	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	must(t, err)
	if selector.Empty() || !selector.Matches(labels.Set(service.Labels)) || monitor.Namespace != service.Namespace {
		t.Errorf("the ServiceMonitor selects %s in %s, and the Service has %v in %s", selector, monitor.Namespace, service.Labels, service.Namespace)
	}
	if !labels.Set(service.Spec.Selector).AsSelector().Matches(labels.Set(manager.Spec.Template.Labels)) {
		t.Errorf("the Service selects %v, and the Pods have %v", service.Spec.Selector, manager.Spec.Template.Labels)
	}
	endpoint, container := monitor.Spec.Endpoints[0], manager.Spec.Template.Spec.Containers[0]
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == endpoint.Port })
	if i < 0 {
		t.Fatalf("the Service has no port %s: %+v", endpoint.Port, service.Spec.Ports)
	}
	target := service.Spec.Ports[i].TargetPort.StrVal
	if !slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == target && p.ContainerPort == 8443 }) {
		t.Errorf("the manager has no port %s 8443, where it serves metrics by default: %+v", target, container.Ports)
	}
	if strings.Contains(strings.Join(container.Args, " "), "diagnostics-address") {
		t.Errorf("the manager serves metrics in another way than by default: %v", container.Args)
	}
	if endpoint.Scheme != "https" || endpoint.Path != "/metrics" || endpoint.BearerTokenFile == "" || len(monitor.Spec.Endpoints) != 1 {
		t.Errorf("the endpoints are %+v: by default the manager wants https and a token", monitor.Spec.Endpoints)
	}
	// Prometheus verifies the certificate that the manager mounts, by the name of the Service.
	volume := manager.Spec.Template.Spec.Volumes[0]
	ca, host := endpoint.TLSConfig.CA.Secret, service.Name+"."+service.Namespace+".svc"
	if volume.Secret == nil || volume.Secret.SecretName != ca.Name || ca.Key != "ca.crt" || endpoint.TLSConfig.ServerName != host ||
		!slices.Contains(container.Args, "--diagnostics-cert-dir="+container.VolumeMounts[0].MountPath) || container.VolumeMounts[0].Name != volume.Name {
		t.Errorf("the endpoint has %+v, and the manager %+v and %v", endpoint.TLSConfig, volume, container.Args)
	}
	if len(reader.Rules) != 1 || !slices.Contains(reader.Rules[0].NonResourceURLs, endpoint.Path) || !slices.Contains(reader.Rules[0].Verbs, "get") {
		t.Errorf("%s does not give the right to read %s: %+v", reader.Name, endpoint.Path, reader.Rules)
	}
}
