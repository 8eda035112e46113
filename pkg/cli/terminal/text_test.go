// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"testing"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 4123: "4.1k", 99_999: "100.0k", 250_000: "250k"} {
		if got := Short1000(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestBecause(t *testing.T) {
	for want, c := range map[string][2]string{
		"protected (it matches: old)": {"protected", "old"},
		"protected":                   {"protected", ""},
		"old":                         {"", "old"},
		"not known":                   {"not known", "not known"},
		"":                            {"", ""},
	} {
		if got := Because(c[0], c[1]); got != want {
			t.Errorf("Because(%q, %q) is %q, want %q", c[0], c[1], got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for want, kind := range map[string]string{
		"2,000 Pods": "Pod", "2,000 Ingresses": "Ingress", "2,000 NetworkPolicies": "NetworkPolicy", "2,000 Gateways": "Gateway",
		"2,000 Endpoints": "Endpoints", "2,000 NodeMetrics": "NodeMetrics", "2,000 ys": "y",
	} {
		if got := Kinds(2000, kind); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := Kinds(1, "Ingress"); got != "1 Ingress" {
		t.Errorf("got %s", got)
	}
}

func TestCounted(t *testing.T) {
	for want, got := range map[string]string{
		"1 patch": Counted(1, "patch"), "2 patches": Counted(2, "patch"), "3,000 Ingresses": Grouped(3000, "Ingress"), "2 copies": Grouped(2, "copy"),
		"2 NetworkPolicies": Counted(2, "NetworkPolicy"), "2 days": Counted(2, "day"), "0 objects": Counted(0, "object"), "2 Endpoints": Counted(2, "Endpoints"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
