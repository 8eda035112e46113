// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestUnknownFindingFields(t *testing.T) {
	for expression, want := range map[string][]Missing{
		"finding.type == 'Unused' && finding.reason != '' && finding.since < '2' && finding.confidence == 'Weak'": nil,
		"finding.nope == 'x'":                            {{Line: 1, Column: 8, Path: "nope"}},
		"true &&\n has(finding.kind)":                    {{Line: 2, Column: 5, Path: "kind"}},
		"finding['nope'] == 'x'":                         {{Line: 1, Column: 8, Path: "nope"}},
		"object.finding.nope == 'x'":                     nil,
		"object.nope == 'x' && finding[object.x] == 'x'": nil,
		"finding.nope ==":                                nil,
	} {
		got, err := UnknownFindingFields([]v1alpha1.MatchCondition{{Name: "a", Expression: expression}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}
