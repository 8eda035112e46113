// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestPeersAreVariantsOnlyWhereGiven(t *testing.T) {
	for _, c := range []struct {
		kor, k8sCleaner string
		want            int
	}{{"", "", 0}, {"kor", "", 1}, {"", "manager", 1}, {"kor", "manager", 2}} {
		all := peers(c.kor, c.k8sCleaner)
		if len(all) != c.want {
			t.Errorf("%+v: got %d variants", c, len(all))
		}
		for _, v := range all {
			if v.floor != "" || (v.peer == nil) == (v.controller == "") {
				t.Errorf("%s should be measured in one way, beside the floor of reading", v.name)
			}
		}
	}
}

// TestAwaitReport reads what a watch of Reports says.
func TestAwaitReport(t *testing.T) {
	l := load{Pods: 25, ConfigMaps: 20}
	pod := func(i int) v1alpha1.ResourceInfo {
		namespace, _, _, err := l.pod(i)
		if err != nil {
			t.Fatal(err)
		}
		return v1alpha1.ResourceInfo{Resource: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: podName(i)}}
	}
	event := func(kind, name string, found ...v1alpha1.ResourceInfo) string {
		report := v1alpha1.Report{Spec: v1alpha1.ReportSpec{ResourceInfo: found}}
		report.Name = name
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, text)
	}
	stranger := pod(10)
	stranger.Resource.Namespace = "kube-system"
	all := event("ADDED", peerCleaner, pod(10), pod(0), pod(20))
	for name, c := range map[string]struct{ events, want string }{
		"all of them":             {all, ""},
		"empty first":             {event("ADDED", peerCleaner) + "\n" + strings.Replace(all, "ADDED", "MODIFIED", 1), ""},
		"another Report first":    {event("ADDED", "other", pod(1)) + all, ""},
		"one is missing":          {event("ADDED", peerCleaner, pod(0), pod(20)), "found 2 Pods in 2 entries, want 3"},
		"one twice":               {event("ADDED", peerCleaner, pod(0), pod(10), pod(20), pod(0)), "found 3 Pods in 4 entries"},
		"one that is running":     {event("ADDED", peerCleaner, pod(0), pod(1), pod(20)), "should not match"},
		"one that is not ours":    {event("ADDED", peerCleaner, pod(0), stranger, pod(20)), "found Pod kube-system/"},
		"an error of the watch":   {`{"type":"ERROR","object":{"kind":"Status","code":410}}`, "the API server said ERROR"},
		"the end, without it":     {event("ADDED", peerCleaner), "waiting for the Report of k8s-cleaner: EOF"},
		"what no watch would say": {"it is late", "waiting for the Report of k8s-cleaner: "},
	} {
		err := awaitReport(strings.NewReader(c.events), l)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestNextMinute(t *testing.T) {
	for earliest, want := range map[string]string{
		"2026-03-01T10:00:00Z":      "2026-03-01T10:00:00Z",
		"2026-03-01T10:00:00.5Z":    "2026-03-01T10:01:00Z",
		"2026-02-28T23:59:01Z":      "2026-03-01T00:00:00Z",
		"2026-03-01T10:00:59+05:30": "2026-03-01T04:31:00Z",
	} {
		from, err := time.Parse(time.RFC3339Nano, earliest)
		if err != nil {
			t.Fatal(err)
		}
		if got := nextMinute(from).Format(time.RFC3339); got != want {
			t.Errorf("after %s: got %s, want %s", earliest, got, want)
		}
	}
}

// TestTheirs: all of their CustomResourceDefinitions are found, and what says that ours are back is not in them.
func TestTheirs(t *testing.T) {
	all, err := theirs()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range all {
		names = append(names, one.Metadata.Name)
		if !json.Valid(one.Spec) || strings.Contains(string(one.Spec), onlyOurs) {
			t.Errorf("%s: %s", one.Metadata.Name, one.Spec)
		}
	}
	if want := "cleaners.apps.projectsveltos.io reports.apps.projectsveltos.io"; strings.Join(names, " ") != want {
		t.Errorf("got %q, want %q", names, want)
	}
}
