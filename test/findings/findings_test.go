// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var env *testenv.Env

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{ControllerManager: true}))
}

// TestFindings compares what is found with what is expected: with all rights, with fewer, and with a part of the API that does not answer. All are
// tests of one cluster, in this order.
func TestFindings(t *testing.T) {
	// It looks from 40 days ahead: so everything is old enough.
	now := time.Now().Add(40 * 24 * time.Hour)
	t.Run("of an empty cluster", func(t *testing.T) {
		for _, f := range look(t, env.Config, now) {
			t.Errorf("%s is %s: %s", f.String(), f.Type, f.Reason)
		}
	})
	expected, all := populate(t, now)
	var scores map[string]*score
	isRight := t.Run("of all scenarios", func(t *testing.T) {
		var different []string
		eventually(t, time.Minute, func() bool { // controllers may still be at work
			different, scores = compare(look(t, env.Config, now), expected)
			return len(different) == 0
		})
		for _, difference := range different {
			t.Error(difference)
		}
	})
	known := truthOf(expected, look(t, env.Config, now))
	t.Run("of one namespace", func(t *testing.T) { testEachNamespace(t, now) })
	t.Run("of one kind", func(t *testing.T) { testEachKind(t, now) })
	t.Run("without the right to read one kind", func(t *testing.T) { testEachRight(t, now, known) })
	t.Run("by an account that may not read some kinds", func(t *testing.T) { testAccounts(t, now, known) })
	t.Run("with an aggregated API that does not answer", func(t *testing.T) { testDeadAPI(t, now, known) })
	t.Run("as the docs say", func(t *testing.T) {
		if !all || !isRight {
			t.Skip("the docs say what the newest Kubernetes says, and not what failed above")
		}
		testProof(t, expected, scores)
	})
}

// populate creates all scenarios, and returns what is expected of their objects, by their names as findings have them. An
// older API server does not have the kinds of all.
func populate(t *testing.T, now time.Time) (expected map[string]expectation, all bool) {
	t.Helper()
	if _, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{Paths: []string{"crds"}, ErrorIfPathMissing: true}); err != nil {
		t.Fatal(err)
	}
	scenarios, err := load("scenarios", now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.playNode(t); err != nil {
		t.Fatal(err)
	}
	minor := minorVersion(t)
	expected, all = map[string]expectation{}, true
	for _, s := range scenarios {
		if minor < s.Since {
			all = false
			continue
		}
		names, err := c.create(t.Context(), s)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, problem := range s.expect(names, expected) {
			t.Error(problem)
		}
	}
	if err := c.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return expected, all
}

// minorVersion is the 36 of Kubernetes 1.36.
func minorVersion(t *testing.T) int {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	minor, err := strconv.Atoi(version.Minor)
	if err != nil {
		t.Fatal(err)
	}
	return minor
}

// look is what findings say of the whole cluster.
func look(t *testing.T, config *rest.Config, now time.Time) []*finding.Finding {
	t.Helper()
	reader := newReader(t, config)
	finder := newFinder(t, reader, now)
	if err := survey.Read(t.Context(), reader, finder, "", nil, survey.Observer{}); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(finder.Findings())
}

func newFinder(t *testing.T, reader *selector.Reader, now time.Time) *finding.Finder {
	t.Helper()
	finder, err := survey.New(t.Context(), reader, survey.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return finder
}

func newReader(t *testing.T, config *rest.Config) *selector.Reader {
	t.Helper()
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return selector.NewReader(client, clock.RealClock{})
}

// eventually waits until something is so, and no longer than the time given.
func eventually(t *testing.T, limit time.Duration, isSo func() bool) bool {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 500*time.Millisecond, limit, true, func(context.Context) (bool, error) { return isSo(), nil })
	return err == nil
}

func typesOf(found []*finding.Finding) map[string][]string {
	types := map[string][]string{}
	for i := range found {
		types[found[i].String()] = append(types[found[i].String()], typeOf(found[i]))
	}
	for _, list := range types {
		slices.Sort(list)
	}
	return types
}

// typeOf is the type of a finding as scenarios have it.
func typeOf(f *finding.Finding) string {
	if len(f.Unknown) > 0 {
		return string(f.Type) + "?"
	}
	return string(f.Type)
}
