// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// asText are the types that are texts in JSON, by package and name, and open those that may hold anything.
var (
	asText = []string{
		"k8s.io/apimachinery/pkg/apis/meta/v1.Time",
		"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime",
		"k8s.io/apimachinery/pkg/apis/meta/v1.Duration",
	}
	open = []string{
		"k8s.io/apimachinery/pkg/api/resource.Quantity", "k8s.io/apimachinery/pkg/util/intstr.IntOrString",
		"k8s.io/apimachinery/pkg/runtime.RawExtension", "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON",
	}
)

// always are fields that the types leave open and that each object of the API server has: it fills them in. The last
// line is for every kind.
var always = map[string]string{
	"Pod":                     "spec.restartPolicy spec.dnsPolicy spec.schedulerName spec.securityContext spec.terminationGracePeriodSeconds status.phase",
	"Deployment":              "spec.replicas spec.selector.matchLabels spec.strategy.type spec.revisionHistoryLimit spec.progressDeadlineSeconds",
	"StatefulSet":             "spec.replicas spec.updateStrategy.type spec.podManagementPolicy spec.revisionHistoryLimit",
	"ReplicaSet":              "spec.replicas",
	"ReplicationController":   "spec.replicas spec.selector",
	"DaemonSet":               "spec.updateStrategy.type spec.revisionHistoryLimit",
	"Job":                     "spec.backoffLimit spec.suspend spec.completionMode spec.parallelism spec.selector",
	"CronJob":                 "spec.suspend spec.concurrencyPolicy spec.successfulJobsHistoryLimit spec.failedJobsHistoryLimit",
	"Service":                 "spec.type spec.sessionAffinity",
	"PersistentVolume":        "spec.persistentVolumeReclaimPolicy spec.volumeMode spec.accessModes spec.capacity status.phase",
	"PersistentVolumeClaim":   "spec.volumeMode spec.accessModes spec.resources.requests status.phase",
	"Namespace":               "status.phase",
	"Secret":                  "type",
	"StorageClass":            "reclaimPolicy volumeBindingMode",
	"HorizontalPodAutoscaler": "spec.minReplicas",
	"":                        "apiVersion kind metadata.name metadata.uid metadata.resourceVersion metadata.creationTimestamp metadata.managedFields",
}

// clusterWide are the built-in kinds without metadata.namespace.
var clusterWide = strings.Fields("Namespace Node PersistentVolume StorageClass ClusterRole ClusterRoleBinding PriorityClass " +
	"CustomResourceDefinition APIService ComponentStatus CSIDriver CSINode VolumeAttachment VolumeAttributesClass IngressClass " +
	"RuntimeClass CertificateSigningRequest ClusterTrustBundle ValidatingWebhookConfiguration MutatingWebhookConfiguration " +
	"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding " +
	"FlowSchema PriorityLevelConfiguration IPAddress ServiceCIDR DeviceClass ResourceSlice")

// IsClusterScoped reports whether a kind is built in and its objects are in no namespace.
func (k *Known) IsClusterScoped(gvk schema.GroupVersionKind) bool {
	_, ok := k.types[gvk]
	return ok && slices.Contains(clusterWide, gvk.Kind)
}

// schemaOf makes a schema of a Go type. A field is required when each object has it.
func schemaOf(gvk schema.GroupVersionKind, typ reflect.Type) *spec.Schema {
	filled := strings.Fields(always[""] + " " + always[gvk.Kind])
	if !slices.Contains(clusterWide, gvk.Kind) {
		filled = append(filled, "metadata.namespace")
	}
	m := maker{filled: filled}
	made := m.of(typ, "")
	return &made
}

// maker makes the schemas of a kind.
type maker struct {
	filled []string
	within []reflect.Type
}

func (m *maker) of(typ reflect.Type, path string) spec.Schema {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	name := typ.PkgPath() + "." + typ.Name()
	switch {
	case slices.Contains(asText, name):
		return *spec.StringProperty()
	case slices.Contains(open, name), slices.Contains(m.within, typ): // a type within itself: what is deeper is left open
		return spec.Schema{}
	}
	switch typ.Kind() {
	case reflect.String:
		return *spec.StringProperty()
	case reflect.Bool:
		return *spec.BooleanProperty()
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return *spec.Int64Property()
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 { // bytes
			return *spec.StringProperty()
		}
		entry := m.of(typ.Elem(), path+"[]")
		return *spec.ArrayProperty(&entry)
	case reflect.Map:
		value := m.of(typ.Elem(), path+".*")
		return *spec.MapProperty(&value)
	case reflect.Struct:
		return m.ofStruct(typ, path)
	}
	return spec.Schema{}
}

func (m *maker) ofStruct(typ reflect.Type, path string) spec.Schema {
	made := spec.Schema{
		SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{}},
	}
	m.within = append(m.within, typ)
	defer func() { m.within = m.within[:len(m.within)-1] }()
	m.fields(&made, typ, path)
	return made
}

func (m *maker) fields(into *spec.Schema, typ reflect.Type, path string) {
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
			continue
		case name == "" && field.Anonymous:
			m.fields(into, field.Type, path)
			continue
		case name == "":
			continue
		}
		below := strings.TrimPrefix(path+"."+name, ".")
		into.Properties[name] = m.of(field.Type, below)
		if isSent(field.Type, options) || slices.Contains(m.filled, below) {
			into.Required = append(into.Required, name)
		}
	}
}

// isSent reports whether JSON has a field whatever its value is: encoding/json leaves no struct out because of
// omitempty.
func isSent(typ reflect.Type, options string) bool {
	words := strings.Split(options, ",")
	return !slices.Contains(words, "omitzero") && (!slices.Contains(words, "omitempty") || typ.Kind() == reflect.Struct)
}
