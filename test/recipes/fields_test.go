// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// No recipe fails on an object that lacks a field: one such object would stop the whole run. Of each object of its files there is one
// without each of its fields, and of each kind one that has nothing but a name.
func TestMissingFields(t *testing.T) {
	dir := t.TempDir()
	for _, r := range all(t) {
		to := filepath.Join(dir, r.Name)
		if err := os.CopyFS(to, os.DirFS(r.path(""))); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"resources.yaml", "updated.yaml"} { // without the first, an aggregated script sees what lacks fields
			if err := os.RemoveAll(filepath.Join(to, file)); err != nil {
				t.Fatal(err)
			}
		}
		var lacking []any
		for _, s := range r.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
			kind := map[string]any{"apiVersion": strings.TrimPrefix(s.Group+"/"+s.Version, "/"), "kind": s.Kind}
			for i, more := range []map[string]any{{}, {"spec": map[string]any{}, "status": map[string]any{}, "metadata": named("bare")}} {
				lacking = append(lacking, merged(kind, map[string]any{"metadata": named(fmt.Sprint("bare-", i))}, more))
			}
		}
		for _, file := range []string{"matching.yaml", "non-matching.yaml"} {
			for _, object := range objects(t, r.path(file)) {
				lacking = append(lacking, withoutEach(object)...)
			}
		}
		var text strings.Builder
		for _, object := range lacking {
			raw, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString("---\n" + string(raw) + "\n")
		}
		if err := os.WriteFile(filepath.Join(to, "non-matching.yaml"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, out, errOut := call(t, "test", "-o", "json", dir)
	var report struct {
		Directories []struct {
			Directory string
			Objects   int
			Failures  []struct {
				Object, Message string
				Details         []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err, errOut)
	}
	for _, d := range report.Directories {
		if d.Objects < 4 {
			t.Errorf("%s: only %d objects were tried: %v", filepath.Base(d.Directory), d.Objects, d.Failures)
		}
		for _, f := range d.Failures { // whether it matches is another question
			if !strings.Contains(f.Message, "should not match, but does") && !strings.Contains(f.Message, "should match, but does not") {
				t.Errorf("%s: %s: %s %s", filepath.Base(d.Directory), f.Object, f.Message, f.Details)
			}
		}
	}
}

func named(name string) map[string]any { return map[string]any{"namespace": "lacking", "name": name} }

func merged(all ...map[string]any) map[string]any {
	into := map[string]any{}
	for _, one := range all {
		manifest.Merge(into, one)
	}
	return into
}

// objects are those of a file.
func objects(t *testing.T, file string) []map[string]any {
	t.Helper()
	sources, err := manifest.ReadPath(file)
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := sources[0].Documents()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var found []map[string]any
	for _, d := range documents {
		found = append(found, d.Value)
	}
	return found
}

// withoutEach are copies of an object, each without one field, which may be deep in it. What tells objects apart stays.
func withoutEach(object map[string]any) (lacking []any) {
	raw, _ := json.Marshal(object)
	for i := 0; ; i++ {
		var fresh map[string]any
		if json.Unmarshal(raw, &fresh) != nil {
			return lacking
		}
		left := i
		if !removeNth(fresh, &left, "") {
			return lacking
		}
		if metadata, ok := fresh["metadata"].(map[string]any); ok {
			metadata["name"] = fmt.Sprintf("%v-%d", metadata["name"], i)
		}
		lacking = append(lacking, fresh)
	}
}

// kept are the fields without which an object has no identity.
var kept = map[string]bool{"/apiVersion": true, "/kind": true, "/metadata": true, "/metadata/name": true, "/metadata/namespace": true}

// removeNth removes the nth field, in an order that is always the same. It reports whether there are so many.
func removeNth(value any, nth *int, path string) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if !kept[path+"/"+key] {
				if *nth == 0 {
					delete(v, key)
					return true
				}
				*nth--
			}
			if removeNth(v[key], nth, path+"/"+key) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if removeNth(item, nth, path+"/-") {
				return true
			}
		}
	}
	return false
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
