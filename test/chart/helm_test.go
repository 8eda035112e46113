// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart renders charts/kubecleaner with Helm 3 and Helm 4, compares it with config, and installs it on a real API server. It is a
// module of its own, so that Helm does not reach the operator's go.mod.
package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	action3 "helm.sh/helm/v3/pkg/action"
	loader3 "helm.sh/helm/v3/pkg/chart/loader"
	chartutil3 "helm.sh/helm/v3/pkg/chartutil"
	action4 "helm.sh/helm/v4/pkg/action"
	common4 "helm.sh/helm/v4/pkg/chart/common"
	loader4 "helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
	release4 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

const (
	chartDir  = "../../charts/kubecleaner"
	namespace = "projectsveltos"
	oldest    = "v1.31.0" // the oldest Kubernetes that the chart is for
)

// helm is what a user does with one version of Helm.
type helm interface {
	// render is helm template.
	render(name, chart string, values map[string]any) (release, error)
	install(name, chart string, values map[string]any, takeOwnership bool) error
	upgrade(name, chart string, values map[string]any, takeOwnership bool) error
	uninstall(name string) error
}

// release is what both versions say of one.
type release struct {
	manifest, notes string
	hooks           []string // each with its events
	tests           string   // the manifests of the hooks
}

var versions = map[string]helm{"helm 3": helm3{}, "helm 4": helm4{}}

// eachHelm runs a test with both versions.
func eachHelm(t *testing.T, test func(t *testing.T, h helm)) {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		t.Run(name, func(t *testing.T) { test(t, versions[name]) })
	}
}

func getter() genericclioptions.RESTClientGetter {
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = ptr.To(env.Kubeconfig), ptr.To(namespace)
	return flags
}

type helm3 struct{}

func (helm3) config() (*action3.Configuration, error) {
	c := &action3.Configuration{}
	return c, c.Init(getter(), namespace, "secret", func(string, ...any) {})
}

func (helm3) render(name, path string, values map[string]any) (release, error) {
	chart, err := loader3.Load(path)
	if err != nil {
		return release{}, err
	}
	i := action3.NewInstall(&action3.Configuration{Log: func(string, ...any) {}})
	i.ReleaseName, i.Namespace, i.DryRun, i.ClientOnly = name, namespace, true, true
	i.KubeVersion = &chartutil3.KubeVersion{Version: oldest, Major: "1", Minor: "31"}
	r, err := i.Run(chart, values)
	if err != nil {
		return release{}, err
	}
	out := release{manifest: r.Manifest, notes: r.Info.Notes}
	for _, hook := range r.Hooks {
		out.hooks = append(out.hooks, fmt.Sprint(hook.Name, hook.Events))
		out.tests += "\n---\n" + hook.Manifest
	}
	return out, nil
}

func (h helm3) install(name, path string, values map[string]any, takeOwnership bool) error {
	chart, err := loader3.Load(path)
	if err != nil {
		return err
	}
	c, err := h.config()
	if err != nil {
		return err
	}
	i := action3.NewInstall(c)
	i.ReleaseName, i.Namespace, i.TakeOwnership = name, namespace, takeOwnership
	_, err = i.Run(chart, values)
	return err
}

func (h helm3) upgrade(name, path string, values map[string]any, takeOwnership bool) error {
	chart, err := loader3.Load(path)
	if err != nil {
		return err
	}
	c, err := h.config()
	if err != nil {
		return err
	}
	u := action3.NewUpgrade(c)
	u.Namespace, u.ResetValues, u.TakeOwnership = namespace, true, takeOwnership
	_, err = u.Run(name, chart, values)
	return err
}

func (h helm3) uninstall(name string) error {
	c, err := h.config()
	if err != nil {
		return err
	}
	_, err = action3.NewUninstall(c).Run(name)
	return err
}

type helm4 struct{}

func (helm4) config() (*action4.Configuration, error) {
	c := action4.NewConfiguration()
	return c, c.Init(getter(), namespace, "secret")
}

func (helm4) render(name, path string, values map[string]any) (release, error) {
	chart, err := loader4.Load(path)
	if err != nil {
		return release{}, err
	}
	i := action4.NewInstall(action4.NewConfiguration())
	i.ReleaseName, i.Namespace, i.DryRunStrategy = name, namespace, action4.DryRunClient
	i.KubeVersion = &common4.KubeVersion{Version: oldest, Major: "1", Minor: "31"}
	made, err := i.Run(chart, values)
	if err != nil {
		return release{}, err
	}
	r, ok := made.(*release4.Release)
	if !ok {
		return release{}, fmt.Errorf("a release is a %T", made)
	}
	out := release{manifest: r.Manifest, notes: r.Info.Notes}
	for _, hook := range r.Hooks {
		out.hooks = append(out.hooks, fmt.Sprint(hook.Name, hook.Events))
		out.tests += "\n---\n" + hook.Manifest
	}
	return out, nil
}

func (h helm4) install(name, path string, values map[string]any, takeOwnership bool) error {
	chart, err := loader4.Load(path)
	if err != nil {
		return err
	}
	c, err := h.config()
	if err != nil {
		return err
	}
	i := action4.NewInstall(c)
	i.ReleaseName, i.Namespace, i.WaitStrategy = name, namespace, kube.HookOnlyStrategy
	i.TakeOwnership = takeOwnership
	_, err = i.Run(chart, values)
	return err
}

func (h helm4) upgrade(name, path string, values map[string]any, takeOwnership bool) error {
	chart, err := loader4.Load(path)
	if err != nil {
		return err
	}
	c, err := h.config()
	if err != nil {
		return err
	}
	u := action4.NewUpgrade(c)
	u.Namespace, u.ResetValues, u.WaitStrategy, u.ServerSideApply = namespace, true, kube.HookOnlyStrategy, "auto"
	u.TakeOwnership = takeOwnership
	_, err = u.Run(name, chart, values)
	return err
}

func (h helm4) uninstall(name string) error {
	c, err := h.config()
	if err != nil {
		return err
	}
	u := action4.NewUninstall(c)
	u.WaitStrategy = kube.HookOnlyStrategy
	_, err = u.Run(name)
	return err
}

// objects reads a rendered manifest. Two objects with one name are an error.
func objects(t *testing.T, manifest string) map[string]*unstructured.Unstructured {
	t.Helper()
	out := map[string]*unstructured.Unstructured{}
	for _, document := range strings.Split("\n"+manifest, "\n---") {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(o.Object) == 0 {
			continue
		}
		if out[key(o)] != nil {
			t.Errorf("%s is there twice", key(o))
		}
		out[key(o)] = o
	}
	return out
}

func key(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
}

// values reads YAML.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	must(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
