// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// That no CSIDriver is called like a provisioner is said of a class that nothing names, and changes nothing else.
func TestProvisioners(t *testing.T) {
	t.Parallel()
	const words = "; there is no CSIDriver with the name of its provisioner rancher.io/local-path, but some provisioners have none"
	class := func(provisioner string) string {
		return of("storage.k8s.io/v1 StorageClass a", "", "provisioner: "+provisioner)
	}
	used := of("v1 PersistentVolume v", "", "spec: {storageClassName: a}", "status: {phase: Bound}")
	for name, test := range map[string]struct {
		cluster string
		unread  []string
		want    string
	}{
		"no driver":              {class("rancher.io/local-path"), nil, "Likely none of N kinds names it" + words},
		"a driver":               {cluster(class("ebs.csi.aws.com"), of("storage.k8s.io/v1 CSIDriver ebs.csi.aws.com", "")), nil, "Likely none of N kinds names it"},
		"of Kubernetes":          {class("kubernetes.io/no-provisioner"), nil, "Likely none of N kinds names it"},
		"drivers are not read":   {class("rancher.io/local-path"), []string{"CSIDriver"}, "Likely none of N kinds names it"},
		"something names it":     {cluster(class("rancher.io/local-path"), used), nil, ""},
		"something is not read":  {class("rancher.io/local-path"), []string{"PersistentVolume"}, " no user found in"},
		"only what is idle uses": {cluster(class("rancher.io/local-path"), idleSet), nil, "Likely only unused or idle objects use it: StatefulSet shop/db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario{cluster: test.cluster, unread: test.unread}
			kind := gk("StorageClass.storage.k8s.io")
			wants := []finding.Want{{Kind: kind, Type: v1alpha1.FindingUnused}, {Kind: kind, Type: v1alpha1.FindingCascading}}
			for _, wanted := range [][]finding.Want{nil, wants} {
				got := ""
				for _, f := range findWith(t, s, finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: wanted}) {
					if f.Kind.GroupKind() == kind {
						_, got, _ = strings.Cut(details(f), ": ")
						got = string(f.Confidence) + " " + got
					}
				}
				if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) || strings.Contains(got, "CSIDriver") != strings.Contains(test.want, "CSIDriver") {
					t.Errorf("found %q, want %q", got, test.want)
				}
			}
		})
	}
}

const idleSet = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {replicas: 0, template: {spec: {containers: []}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: a}}]}`

// Where Velero runs, it may take any class of snapshots by its driver.
func TestSnapshotClassesOfVelero(t *testing.T) {
	t.Parallel()
	const classes = "snapshot.storage.k8s.io/v1 VolumeSnapshotClass "
	options := finding.Options{Table: tableOf(t), Served: append(served(t), kindOf(t, "velero.io/v1", "Backup")), Now: now}
	s := scenario{cluster: cluster(of(classes+"a", "", "driver: one.example.com"), of(classes+"b", "", "driver: one.example.com"))}
	want := "VolumeSnapshotClass a Unused weak\nVolumeSnapshotClass b Unused weak"
	if got := lines(findWith(t, s, options)); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
