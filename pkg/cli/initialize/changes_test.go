// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/config/recipes"
)

// withSelectors is a recipe with these selectors.
func withSelectors(t *testing.T, selectors string) *recipe {
	t.Helper()
	text := "metadata:\n  name: one\nspec:\n  schedule: \"0 3 * * *\" # every day at 03:00 UTC\n  action: Scan\n  resourcePolicySet:\n" +
		"    resourceSelectors: # 60 seconds are a minute\n" + selectors
	r := &recipe{Recipe: recipes.Recipe{Name: "one", Cleaner: text}}
	if err := yaml.Unmarshal([]byte(text), &r.cleaner); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		r.kinds = append(r.kinds, kindOf(&s))
	}
	return r
}

const (
	podSelector   = "    - group: \"\"\n      version: v1\n      kind: Pod\n"
	nodeSelector  = "    - group: \"\"\n      version: v1\n      kind: Node\n"
	querySelector = podSelector + "      metricSource: {url: http://a.b.svc}\n      metricQueries:\n      - {name: a, query: b}\n"
)

func conditions(expressions ...string) string {
	text := "      matchConditions:\n"
	for _, e := range expressions {
		text += "      - name: a\n        expression: " + e + "\n"
	}
	return text
}

// TestWholeCluster: what a recipe of the whole cluster does not see cannot keep other objects.
func TestWholeCluster(t *testing.T) {
	for _, c := range []changes{{namespace: "shop"}, {namespaceSelector: "a=b"}} {
		r := withSelectors(t, podSelector)
		r.Name = "pull-request-leftovers"
		if _, _, err := c.apply(r); err == nil || !strings.Contains(err.Error(), "an object in any namespace can keep the others") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	r := withSelectors(t, podSelector)
	r.Name = "pull-request-leftovers"
	if _, _, err := (&changes{allNamespaces: true, act: "Scan"}).apply(r); err != nil {
		t.Error(err)
	}
}

// What a recipe becomes: the lines that the flags change, and all others as they were.
func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		changes   changes
		selectors string
		want      string // the selectors afterwards, or the error
	}{
		"a namespace is put after the kind": {changes{namespace: "shop"}, podSelector + "      minAgeSeconds: 60\n", podSelector + "      namespace: shop\n      minAgeSeconds: 60\n"},
		"a namespace replaces a selector":   {changes{namespace: "shop"}, podSelector + "      namespaceSelector: a=b\n", podSelector + "      namespace: shop\n"},
		"a selector replaces a namespace": {
			changes{namespaceSelector: "a=b"}, podSelector + "      namespace: shop # theirs\n", podSelector + "      namespaceSelector: a=b\n",
		},
		"a kind without namespaces is left out": {changes{namespace: "shop"}, nodeSelector + podSelector, podSelector + "      namespace: shop\n"},
		"no kind has namespaces":                {changes{namespace: "shop"}, nodeSelector, "you cannot use --namespace with this recipe: Node objects have no namespace"},
		"not a namespace":                       {changes{namespace: "a b"}, podSelector, `--namespace "a b" is not the name of a namespace`},
		"queries name a namespace":              {changes{namespace: "shop"}, querySelector, "its metricQueries name the namespace and the time"},
		"queries name a time":                   {changes{long: "3d"}, querySelector, "its metricQueries name the namespace and the time"},
		"one kind":                              {changes{kinds: []string{"po"}}, nodeSelector + podSelector, podSelector},
		"a finding's time": {
			changes{long: "2h"},
			podSelector + "      minAgeSeconds: 30\n      finding:\n        type: Failed\n        forSeconds: 60 # a minute\n",
			podSelector + "      minAgeSeconds: 30\n      finding:\n        type: Failed\n        forSeconds: 7200 # 2h\n",
		},
		"a finding's time that is also the age": {
			changes{long: "2h"},
			podSelector + "      minAgeSeconds: 60 # a minute\n      finding:\n        type: Failed\n        forSeconds: 60\n",
			podSelector + "      minAgeSeconds: 7200 # 2h\n      finding:\n        type: Failed\n        forSeconds: 7200\n",
		},
		"a condition's time that is also the age": {
			changes{long: "15m"},
			podSelector + "      minAgeSeconds: 3600\n" + conditions("a > duration('1h')"),
			podSelector + "      minAgeSeconds: 900\n" + conditions("a > duration('15m')"),
		},
		"a condition's time": {
			changes{long: "3d"},
			podSelector + "      minAgeSeconds: 60\n" + conditions("a > duration('1h') || b > duration('1h')"),
			podSelector + "      minAgeSeconds: 60\n" + conditions("a > duration('72h') || b > duration('72h')"),
		},
		"two times":             {changes{long: "3d"}, podSelector + conditions("a > duration('1h') || b > duration('2h')"), "no time in its selector of Pod, or there are several"},
		"times in two of them":  {changes{long: "3d"}, podSelector + conditions("a > duration('1h')", "b > duration('1h')"), "or there are several"},
		"an age":                {changes{long: "90s"}, podSelector + "      minAgeSeconds: 60 # old\n", podSelector + "      minAgeSeconds: 90 # 90s\n"},
		"a finding without one": {changes{long: "1m"}, podSelector + "      finding: {type: Failed}\n", podSelector + "      finding: {type: Failed, forSeconds: 60}\n"},
		"a finding beside an age": {
			changes{long: "90s"},
			podSelector + "      finding: {type: Expired}\n" + podSelector + "      minAgeSeconds: 60\n",
			podSelector + "      finding: {type: Expired}\n" + podSelector + "      minAgeSeconds: 90\n",
		},
		"no time": {changes{long: "1m"}, podSelector, "you cannot use --for with this recipe"},
	} {
		c.changes.act = "Scan"
		got, _, err := c.changes.apply(withSelectors(t, c.selectors))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
			continue
		}
		want := withSelectors(t, c.want).Cleaner
		if c.changes.long != "" { // what the comment says is not so any more
			want = strings.Replace(want, " # 60 seconds are a minute", "", 1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "5m": 5 * time.Minute, "36h": 36 * time.Hour, "14d": 14 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "36500d": 36500 * 24 * time.Hour,
		"": 0, "0d": 0, "-1d": 0, "1.5h": 0, "1h30m": 0, "d": 0, "14": 0, "14 d": 0, "36501d": 0, "99999999999999999999d": 0,
	} {
		if got, err := parseTime(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// TestWords: the header names every flag that made the Cleaner another one than the README above it describes.
func TestWords(t *testing.T) {
	for want, c := range map[string]changes{
		"":                                   {act: "Scan"},
		"--all-namespaces":                   {allNamespaces: true, act: "Scan"},
		"--all-namespaces --action Delete":   {allNamespaces: true, act: "Delete"},
		"--namespace shop --for 3d --name b": {namespace: "shop", long: "3d", as: "b"},
	} {
		if got := c.words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
