// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package suggest

import "testing"

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		candidates []string
		wants      map[string]string
	}{
		{[]string{"", "Pod", "Job", "Deployment", "DaemonSet", "ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim"}, map[string]string{
			"pod": "Pod", "Pdo": "Pod", "Pood": "Pod", "Pods": "Pod", "Jbo": "Job", "Deplyoment": "Deployment", "DemonSets": "DaemonSet",
			"ConfigMaps": "ConfigMap", "configmap": "ConfigMap", "CofnigMap": "ConfigMap", "Secrt": "Secret",
			"PersistentVolumeClaims": "PersistentVolumeClaim", "": "", "x": "", "Gateway": "", "Ingress": "",
		}},
		{[]string{"schedule", "namespace", "labelFilters", "kind", "action", "ns"}, map[string]string{
			"schedul": "schedule", "Schedule": "schedule", "shcedule": "schedule", "namespaces": "namespace", "labelFilter": "labelFilters",
			"acton": "action", "kinds": "kind", "nt": "ns", "evaluate": "", "x": "", "": "", "zz": "", "naem": "",
		}},
	} {
		for text, want := range c.wants {
			if got := Nearest(text, c.candidates); got != want {
				t.Errorf("%q is near %q, want %q", text, got, want)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"ab", "ab", 0}, {"ab", "ba", 1}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
