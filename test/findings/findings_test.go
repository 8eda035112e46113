// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var env *testenv.Env

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{ControllerManager: true, CRDs: []string{"../../config/crd/bases", "crds"}}))
}

const mergePatch = types.MergePatchType

func statusPatch(status any) []byte {
	patch, _ := json.Marshal(map[string]any{"status": status}) // it was decoded from YAML
	return patch
}

// look is what findings say of the whole cluster. It looks from 40 days ahead: so everything is old enough.
func look(t *testing.T, config *rest.Config) []finding.Finding {
	t.Helper()
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	reader := selector.NewReader(restClient(t, config, httpClient), clock.RealClock{})
	table, err := graph.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	served, unserved, err := reader.Served(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	finder := finding.New(finding.Options{Table: table, Served: served, Unserved: unserved, Now: time.Now().Add(40 * 24 * time.Hour)})
	if err := survey.Read(t.Context(), reader, finder, "", nil, survey.Observer{}); err != nil {
		t.Fatal(err)
	}
	return finder.Findings()
}

// score counts what was right and what was not, for one kind and type.
type score struct{ right, wrong, missed int }

// TestScenarios compares what is found in each scenario with what is expected.
func TestScenarios(t *testing.T) {
	scenarios, err := load("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]bool{} // what the cluster had: nothing is to be found there
	for _, f := range look(t, env.Config) {
		before[f.String()] = true
		t.Errorf("in an empty cluster: %s is %s: %s", f.String(), f.Type, f.Reason)
	}
	expected := map[string]expectation{}
	for _, s := range scenarios {
		names, err := c.create(t.Context(), s)
		if err != nil {
			t.Error(err)
			continue
		}
		s.expect(t, names, expected)
	}
	scores := compare(t, look(t, env.Config), expected, before)
	for _, row := range slices.Sorted(maps.Keys(scores)) {
		t.Logf("%-60s %+v", row, *scores[row])
	}
}

// expectation is what is to be found of an object: types, each with a "?" when unknown.
type expectation struct {
	scenario *scenario
	types    []string
}

// expect adds what is expected of the scenario's objects, by their names as findings have them.
func (s *scenario) expect(t *testing.T, names map[string]string, expected map[string]expectation) {
	t.Helper()
	for key := range s.Expect {
		if names[key] == "" {
			t.Errorf("%s: %q expects something of %s, which is not among its objects: %v", s.file, s.Scenario, key, slices.Sorted(maps.Keys(names)))
		}
	}
	for key, name := range names {
		e := expectation{scenario: s}
		if want := s.Expect[key]; want != "" && want != "used" {
			for typ := range strings.SplitSeq(want, ",") {
				e.types = append(e.types, strings.TrimSpace(typ))
			}
		}
		expected[name] = e
	}
}

// compare tells every difference, and counts.
func compare(t *testing.T, found []finding.Finding, expected map[string]expectation, before map[string]bool) map[string]*score {
	t.Helper()
	scores := map[string]*score{}
	of := func(kind, typ string) *score {
		row := kind + " " + strings.TrimSuffix(typ, "?")
		scores[row] = cmp.Or(scores[row], &score{})
		return scores[row]
	}
	got := map[string][]string{}
	reasons := map[string]string{}
	for i := range found {
		f := &found[i]
		typ := string(f.Type)
		if len(f.Unknown) > 0 {
			typ += "?"
		}
		got[f.String()] = append(got[f.String()], typ)
		reasons[f.String()+typ] = f.Reason
	}
	for name, types := range got {
		e := expected[name]
		kind, _, _ := strings.Cut(name, " ")
		for _, typ := range types {
			switch {
			case before[name]:
			case slices.Contains(e.types, typ):
				of(kind, typ).right++
			default:
				of(kind, typ).wrong++
				t.Errorf("wrong: %s is %s: %s (%s)", name, typ, reasons[name+typ], e.told())
			}
		}
	}
	for name, e := range expected {
		kind, _, _ := strings.Cut(name, " ")
		for _, typ := range e.types {
			if !slices.Contains(got[name], typ) {
				of(kind, typ).missed++
				t.Errorf("missed: %s is not %s (%s)", name, typ, e.told())
			}
		}
	}
	return scores
}

func (e expectation) told() string {
	if e.scenario == nil {
		return "of no scenario"
	}
	return fmt.Sprintf("%s: %q expects %v", e.scenario.file, e.scenario.Scenario, e.types)
}

func restClient(t *testing.T, config *rest.Config, httpClient *http.Client) rest.Interface {
	t.Helper()
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
