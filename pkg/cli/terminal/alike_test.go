// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Items share a row from eleven on, where the first of them stands, and keep their order.
func TestAlike(t *testing.T) {
	const ten, eleven = "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10", "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11"
	for items, want := range map[string]string{
		"":                       "",
		ten:                      strings.ReplaceAll(ten, " ", "|"),
		eleven:                   eleven,
		"b1 a0 b2 c1 " + eleven:  "b1|a0 " + eleven + "|b2|c1",
		eleven + " b1 " + eleven: eleven + " " + eleven + "|b1",
	} {
		join := func(rows [][]string) string {
			var lines []string
			for _, row := range rows {
				lines = append(lines, strings.Join(row, " "))
			}
			return strings.Join(lines, "|")
		}
		got := join(Alike(strings.Fields(items), func(s string) byte { return s[0] }))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", items, diff)
		}
		if got, want := join(Alone(strings.Fields(items))), strings.Join(strings.Fields(items), "|"); got != want {
			t.Errorf("alone: got %q, want %q", got, want)
		}
	}
}

func TestWithoutName(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"nothing uses ConfigMap web-3": "nothing uses ConfigMap NAME",
		`Deployment.apps "web-3" is invalid; web-3.`:    `Deployment.apps "NAME" is invalid; NAME.`,
		"shop/web-3 is named, and web-3: too":           "shop/NAME is named, and NAME: too",
		"web-3-a, my-web-3, web-33, a.web-3, web-3.svc": "web-3-a, my-web-3, web-33, a.web-3, web-3.svc",
		"web-3web-3 web-3":                              "web-3web-3 NAME",
		"éweb-3 web-3\xff":                              "éweb-3 NAME\xff",
	} {
		if got := WithoutName(text, "web-3"); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := WithoutName("as it is", ""); got != "as it is" {
		t.Errorf("without a name: %q", got)
	}
}
