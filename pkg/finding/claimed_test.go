// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

var held = []string{"spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}"}

var claimedScenarios = map[string]scenario{
	"claims that a custom resource may use again": {
		cluster: cluster(of("example.com/v1 Widget shop/tidmain", ""), of("example.com/v1 Widget shop/main-db", ""), of("example.com/v1 Widget shop/ab", ""),
			of("v1 PersistentVolumeClaim shop/tikv", "labels: {app.kubernetes.io/instance: tidmain}"), of("v1 PersistentVolumeClaim shop/by-short", "labels: {cluster: ab}"),
			of("v1 PersistentVolumeClaim team/tikv", "labels: {app.kubernetes.io/instance: tidmain}"), of("v1 PersistentVolumeClaim shop/other", "labels: {app.kubernetes.io/instance: other, tidmain: other}"),
			of("v1 PersistentVolumeClaim shop/data-main-db-0", ""), of("v1 PersistentVolumeClaim shop/main-db", ""), of("v1 PersistentVolumeClaim shop/tidmain-data", ""),
			of("v1 PersistentVolumeClaim shop/data-tidmain2-0", ""), of("v1 PersistentVolumeClaim shop/ab-data", ""), of("v1 PersistentVolumeClaim team/data-main-db-0", "")),
		want: `
PersistentVolumeClaim shop/ab-data Unused weak
PersistentVolumeClaim shop/by-short Unused weak
PersistentVolumeClaim shop/data-main-db-0 Unused weak
PersistentVolumeClaim shop/data-tidmain2-0 Unused
PersistentVolumeClaim shop/main-db Unused weak
PersistentVolumeClaim shop/other Unused
PersistentVolumeClaim shop/tidmain-data Unused weak
PersistentVolumeClaim shop/tikv Unused weak
PersistentVolumeClaim team/data-main-db-0 Unused
PersistentVolumeClaim team/tikv Unused`,
	},
	"the Service of a SparkApplication, by its name": {
		cluster: cluster(of("v1 Service shop/ui", "", "spec: {selector: {sparkoperator.k8s.io/app-name: pi-run}}"), of("v1 Service shop/old", "", "spec: {selector: {sparkoperator.k8s.io/app-name: pi-old}}"),
			of("sparkoperator.k8s.io/v1beta2 SparkApplication shop/pi-run", "")),
		want: "Service shop/old Unused\nService shop/ui Unused weak",
	},
	"a Job that Kueue holds without the label of a queue": {
		cluster: cluster(of("batch/v1 Job shop/held", "", held...), of("batch/v1 Job shop/paused", "", held...), of("batch/v1 Job team/held", "", held...),
			of("kueue.x-k8s.io/v1beta1 Workload shop/job-held-1", "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: held, uid: u, controller: true}]")),
		want: "Job shop/paused Idle\nJob team/held Idle",
	},
	"a suspended Job when Workloads of Kueue may not be read": {
		cluster: of("batch/v1 Job shop/held", "", held...), unread: []string{"Workload"},
		want: "Job shop/held Idle unknown",
	},
	"what Ceph CSI reads by names that it knows": {
		cluster: cluster(of("v1 ConfigMap ceph/ceph-csi-config", ""), of("v1 ConfigMap ceph/ceph-csi-encryption-kms-config", ""), of("v1 ConfigMap ceph/ceph-csi-kms-config", ""),
			of("v1 ConfigMap ceph/csi-kms-connection-details", ""), of("v1 Secret shop/ceph-csi-kms-token", "", "type: Opaque"), of("v1 ServiceAccount shop/ceph-csi-vault-sa", ""), of("v1 ServiceAccount shop/istio", "")),
		want: `
ConfigMap ceph/ceph-csi-config Unused weak
ConfigMap ceph/ceph-csi-encryption-kms-config Unused weak
ConfigMap ceph/ceph-csi-kms-config Unused weak
ConfigMap ceph/csi-kms-connection-details Unused weak
Secret shop/ceph-csi-kms-token Unused weak
ServiceAccount shop/ceph-csi-vault-sa Unused weak
ServiceAccount shop/istio Unused`,
	},
	"the configuration of other programs, by names that they know": {
		cluster: cluster(of("v1 ConfigMap vmware/vsphere-csi-cluster-id", ""), of("v1 ConfigMap kruise/kruise-configuration", ""), of("v1 ConfigMap ack/ack-role-team-map", ""),
			of("v1 ConfigMap kubecost/app-configs", ""), of("v1 ConfigMap shop/app-configs", ""), of("v1 ConfigMap shop/saved-report-configs", "")),
		want: `
ConfigMap ack/ack-role-team-map Unused weak
ConfigMap kruise/kruise-configuration Unused weak
ConfigMap kubecost/app-configs Unused weak
ConfigMap shop/app-configs Unused
ConfigMap shop/saved-report-configs Unused weak
ConfigMap vmware/vsphere-csi-cluster-id Unused weak`,
	},
	"what a person says is unused, whatever its name is": {
		cluster: cluster(of("example.com/v1 Widget shop/main", ""), of("v1 PersistentVolumeClaim shop/data-main-0", "labels: {kor/used: 'false'}")),
		want:    "PersistentVolumeClaim shop/data-main-0 Unused",
	},
}

// A Service that is never unused says why.
func TestExemptionOfServices(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"spec: {selector: {a: b}}": "",
		"spec: {}":                 "it has no selector, so somebody else makes its endpoints",
		"spec: {type: ExternalName, externalName: a.b}":                                                    "it is of type ExternalName",
		"spec: {type: LoadBalancer, selector: {a: b}}":                                                     "it waits for the address of its load balancer",
		"spec: {type: LoadBalancer, selector: {a: b}}\nstatus: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}": "",
	} {
		text := of("v1 Service shop/a", "", spec)
		if got := finding.Exemption(load(t, text, 0, served(t))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
