// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// testEachNamespace looks for unused Secrets and ConfigMaps in one namespace after the other, as a Cleaner does: with the right to list what can name
// them from elsewhere, the same is found as in the whole cluster; without it, all is unknown.
func testEachNamespace(t *testing.T, now time.Time) {
	read, whole := readAll(t, now)
	options := whole.Options
	for _, kind := range []string{"ConfigMap", "Secret"} {
		options.Wanted = []finding.Want{{Kind: schema.GroupKind{Kind: kind}, Type: v1alpha1.FindingUnused}}
		known, namespaces := map[string]*finding.Finding{}, map[string]int{}
		for _, f := range findIn(read, options, "", nil) {
			known[f.String()] = f
			namespaces[f.Namespace]++
		}
		if len(namespaces) < 20 {
			t.Errorf("only %d namespaces have a %s that is unused", len(namespaces), kind)
		}
		for namespace, all := range namespaces {
			if strings.HasSuffix(namespace, "-others") {
				continue // texts of Pods of another namespace name what is in it, and these are not read
			}
			found := findIn(read, options, namespace, nil)
			if len(found) != all {
				t.Errorf("in %s %d of kind %s are unused, and %d when the whole cluster is read", namespace, len(found), kind, all)
			}
			for _, f := range found {
				if k := known[f.String()]; k.Confidence != f.Confidence {
					t.Errorf("%s is unused (%s), and %q when the whole cluster is read", f.String(), f.Confidence, k.Confidence)
				}
			}
			for _, f := range findIn(read, options, namespace, errors.New("forbidden")) {
				if len(f.Unknown) == 0 {
					t.Errorf("%s is plainly unused for who may not read other namespaces", f.String())
				}
			}
		}
	}
}

// testEachKind looks for what is unused of one kind after the other, as a Cleaner does. It reads less than a scan, and must find the same.
func testEachKind(t *testing.T, now time.Time) {
	read, whole := readAll(t, now)
	known := map[schema.GroupKind]map[string]string{}
	for _, f := range findIn(read, whole.Options, "", nil) {
		kind := f.Kind.GroupKind()
		if f.Type != v1alpha1.FindingUnused {
			continue
		}
		if known[kind] == nil {
			known[kind] = map[string]string{}
		}
		known[kind][f.String()] = fmt.Sprintf("%s(%s)", typeOf(f), f.Confidence)
	}
	for kind, want := range known {
		options, found := whole.Options, map[string]string{}
		options.Wanted = []finding.Want{{Kind: kind, Type: v1alpha1.FindingUnused}}
		for _, f := range findIn(read, options, "", nil) {
			found[f.String()] = fmt.Sprintf("%s(%s)", typeOf(f), f.Confidence)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("of %s a scan finds the first, a Cleaner the second:\n%s", kind, diff)
		}
	}
}

// findIn finds in one namespace, or in all. With an error, objects of other namespaces may not be read.
func findIn(read map[string][]object.Object, options finding.Options, namespace string, elsewhere error) []*finding.Finding {
	options.Namespace = namespace
	f := finding.New(options)
	for _, list := range f.Lists() {
		if list.Everywhere && list.Kind.Namespaced && elsewhere != nil {
			f.UnreadElsewhere(list, elsewhere)
		}
		for _, o := range read[keyOf(list)] {
			if isThere := list.Everywhere && elsewhere == nil; namespace == "" || !list.Kind.Namespaced || isThere || o.Namespace == namespace {
				f.Look(list, o)
			}
		}
	}
	return slices.Collect(f.Findings())
}
