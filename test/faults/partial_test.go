// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// recipes are ways to select, by name.
var recipes = map[string]func(*v1alpha1.Cleaner){
	"labels": func(*v1alpha1.Cleaner) {},
	"a script": func(c *v1alpha1.Cleaner) {
		for i := range c.Spec.ResourcePolicySet.ResourceSelectors {
			c.Spec.ResourcePolicySet.ResourceSelectors[i].Evaluate = `function evaluate() return {matching = true} end`
		}
	},
	"an aggregated script": func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.AggregatedSelection = `function evaluate()
  local found = {}
  for _, r in ipairs(resources) do found[#found + 1] = {resource = r} end
  return {resources = found}
end`
	},
	"a limit": func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](100)}
	},
}

// inputs are what a run has to read, by what of it fails.
var inputs = map[string]func(c *faultproxy.Call, namespace string) bool{
	"the kinds":             func(c *faultproxy.Call, _ string) bool { return c.Request.URL.Path == "/api/v1" },
	"the first kind":        func(c *faultproxy.Call, ns string) bool { return c.Resource == "configmaps" && c.Namespace == ns },
	"the second kind":       func(c *faultproxy.Call, ns string) bool { return c.Resource == "serviceaccounts" && c.Namespace == ns },
	"a further page":        furtherPage,
	"the namespace's marks": func(c *faultproxy.Call, ns string) bool { return c.Resource == "namespaces" && c.Name == ns },
}

func furtherPage(c *faultproxy.Call, _ string) bool {
	return c.Verb == "list" && c.Request.URL.Query().Get("continue") != ""
}

// partialView is one case.
type partialView struct {
	recipe, input string
	kind          faultproxy.Kind
}

func (v partialView) String() string {
	return strings.Join([]string{v.recipe, v.input, v.kind.Name}, ", ")
}

func partialViews() []partialView {
	var all []partialView
	for recipe := range recipes {
		for input := range inputs {
			for _, kind := range faultproxy.Kinds {
				if kind.Answer == faultproxy.Broken && !kind.Busy && (!kind.Pages || input == "a further page") {
					all = append(all, partialView{recipe, input, kind})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b partialView) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// However something that a run reads fails, for as long as it fails, nothing is touched, and the cause is told. What a run waits for
// until its deadline is in test/integration.
func TestPartialView(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	all := partialViews()
	if len(all) < 300 {
		t.Errorf("there are %d cases", len(all))
	}
	if rng := random(*faultSeed); *partial > 0 && *partial < len(all) {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:*partial]
	}
	inParallel(t, s, all, func(t *testing.T, namespace string, v partialView) {
		w := newWorld(t, s, namespace, v1alpha1.ActionDelete, recipes[v.recipe])
		w.populate()
		for _, object := range w.before {
			object.Spared = fmt.Sprintf("%s could not be read", v.input)
		}
		runner, proxy := s.newRunner(t)
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
			if inputs[v.input](c, namespace) && c.Verb != "delete" {
				return w.paged(c, v.kind.Fault)
			}
			return w.paged(c, nil)
		})
		record, _ := runner.Run(t.Context(), w.request())
		proxy.Wait()
		seen := w.check(t, "after the run")
		if n := len(seen.Records[0].Intents); n > 0 {
			t.Errorf("the run intended to touch %d objects", n)
		}
		status := record.Status
		told := status.Reason == v1alpha1.ReasonViewIncomplete || status.Reason == v1alpha1.ReasonForbidden
		if !told || !strings.HasPrefix(status.Message, "Nothing was touched, because the run could not read or judge everything: ") {
			t.Errorf("the run is %s %s: %s", status.Phase, status.Reason, status.Message)
		}
	}, func() { t.Logf("%d runs with a partial view", len(all)) })
}
