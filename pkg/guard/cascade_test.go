// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func member(group, kind, namespace, name string) object.Object {
	gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
	return object.Object{Kind: object.Kind{GroupVersionKind: gvk, Namespaced: namespace != ""}, Namespace: namespace, Name: name, UID: types.UID(kind + "-" + name)}
}

// What is looked through depends on what the objects may own, and on what the Delete does with it.
func TestCascadeLooksOnlyWhereItMust(t *testing.T) {
	t.Parallel()
	policy := func(p metav1.DeletionPropagation) *v1alpha1.DeleteOptions {
		return &v1alpha1.DeleteOptions{PropagationPolicy: &p}
	}
	orphan, background := policy(metav1.DeletePropagationOrphan), policy(metav1.DeletePropagationBackground)
	pod := func(volume string) object.Object {
		o := member("", "Pod", "shop", "a")
		o.Raw = []byte(`{"spec":{"volumes":[{"name":"x","emptyDir":{}},` + volume + `]}}`)
		return o
	}
	const everything = "Deployment StatefulSet DaemonSet CronJob ReplicaSet Job Pod PersistentVolumeClaim"
	tests := map[string]struct {
		object  object.Object
		options *v1alpha1.DeleteOptions
		want    string
	}{
		"a Deployment":                         {member("apps", "Deployment", "shop", "a"), nil, "ReplicaSet Pod PersistentVolumeClaim"},
		"a Deployment, in the foreground":      {member("apps", "Deployment", "shop", "a"), policy(metav1.DeletePropagationForeground), "ReplicaSet Pod PersistentVolumeClaim"},
		"a Deployment, orphaning":              {member("apps", "Deployment", "shop", "a"), orphan, ""},
		"a StatefulSet":                        {member("apps", "StatefulSet", "shop", "a"), nil, "Pod PersistentVolumeClaim"},
		"a CronJob":                            {member("batch", "CronJob", "shop", "a"), nil, "Job Pod PersistentVolumeClaim"},
		"a Job":                                {member("batch", "Job", "shop", "a"), nil, ""},
		"a Job with another option":            {member("batch", "Job", "shop", "a"), &v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, ""},
		"a Job with its Pods":                  {member("batch", "Job", "shop", "a"), background, "Pod PersistentVolumeClaim"},
		"a ReplicationController":              {member("", "ReplicationController", "shop", "a"), nil, ""},
		"a ReplicationController and its Pods": {member("", "ReplicationController", "shop", "a"), background, "Pod PersistentVolumeClaim"},
		"a Pod without its bytes":              {member("", "Pod", "shop", "a"), nil, "PersistentVolumeClaim"},
		"a Pod with a claim of its own":        {pod(`{"ephemeral":{}}`), nil, "PersistentVolumeClaim"},
		"a Pod with another's claim":           {pod(`{"persistentVolumeClaim":{"claimName":"ephemeral"}}`), nil, ""},
		"a ConfigMap":                          {member("", "ConfigMap", "shop", "a"), nil, ""},
		"a Service":                            {member("", "Service", "shop", "a"), nil, ""},
		"a custom resource":                    {member("example.com", "App", "shop", "a"), nil, everything},
		"a custom resource of a like group":    {member("gateway.networking.k8s.io", "Gateway", "shop", "a"), nil, everything},
		"a custom resource, orphaning":         {member("example.com", "App", "shop", "a"), orphan, ""},
		"a Namespace":                          {member("", "Namespace", "", "shop"), nil, ""},
		"a Node":                               {member("", "Node", "", "a"), nil, everything},
		"a Node, orphaning":                    {member("", "Node", "", "a"), orphan, everything},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Cascade
			c.Add(test.object, test.options)
			var got []string
			for _, kind := range c.Kinds {
				got = append(got, kind.Kind)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCascadeUnitesWhatIsLookedThrough(t *testing.T) {
	t.Parallel()
	var c Cascade
	for _, o := range []object.Object{
		member("apps", "StatefulSet", "shop", "a"), member("apps", "Deployment", "shop", "b"), member("apps", "Deployment", "area", "b"),
		member("", "Namespace", "", "old"), member("project.openshift.io", "Project", "", "older"), member("", "ConfigMap", "other", "c"),
	} {
		c.Add(o, nil)
	}
	if len(c.Kinds) != 3 || c.Cluster {
		t.Errorf("kinds are %v, cluster is %v", c.Kinds, c.Cluster)
	}
	if diff := cmp.Diff([][]string{{"area", "shop"}, {"old", "older"}}, [][]string{c.OwnersIn(), c.Namespaces()}); diff != "" {
		t.Error(diff)
	}
	if c.Add(member("example.com", "Fleet", "", "all"), nil); !c.Cluster {
		t.Error("the dependents of a cluster-scoped owner may be anywhere")
	}
}

func TestCascadeReason(t *testing.T) {
	t.Parallel()
	deployment, other := member("apps", "Deployment", "shop", "web"), member("apps", "Deployment", "shop", "other")
	namespace, project := member("", "Namespace", "", "old"), member("project.openshift.io", "Project", "", "older")
	var c Cascade
	for _, o := range []object.Object{deployment, other, namespace, project} {
		c.Add(o, nil)
	}
	const protects = "is annotated cleaner/protect"
	c.Found(member("", "Pod", "shop", "web-1"), protects, []types.UID{"ReplicaSet-web", deployment.UID})
	c.Found(member("", "Pod", "shop", "web-2"), protects, []types.UID{deployment.UID})
	c.Found(member("", "ConfigMap", "old", "kept"), protects, nil)
	c.Found(member("", "ConfigMap", "older", "kept"), protects, []types.UID{"nobody"})
	c.Found(member("", "ConfigMap", "elsewhere", "kept"), protects, nil)
	const annotated = ` would be deleted with it, and is annotated cleaner/protect`
	for o, want := range map[*object.Object]string{
		&deployment: "Pod shop/web-1" + annotated, &other: "",
		&namespace: "ConfigMap old/kept" + annotated, &project: "ConfigMap older/kept" + annotated,
	} {
		if got := c.Reason(*o); got != want {
			t.Errorf("%s: %q, want %q", o, got, want)
		}
	}
	if got := (&Cascade{}).Reason(deployment); got != "" {
		t.Errorf("a zero Cascade says %q", got)
	}
}

func TestWhatStays(t *testing.T) {
	t.Parallel()
	c := Cascade{Unjudged: map[types.UID]bool{"u": true}}
	const annotated, restored = "is annotated cleaner/protect", "is annotated apps.projectsveltos.io/restored-from"
	for raw, want := range map[string]string{
		`{"metadata":{"annotations":{"cleaner/protect":"true"}}}`:                          annotated,
		`{"metadata":{"annotations":{"cleaner/protect":"false"}}}`:                         "",
		`{"metadata":{"annotations":{"cleaner/protect":"TRUE"}}}`:                          annotated,
		`{"metadata":{"annotations":{"apps.projectsveltos.io/restored-from":"some-run"}}}`: restored,
		`{"metadata":{"labels":{"cleaner/protect":"true"}}}`:                               "",
		`{"metadata":{"annotations":null}}`:                                                "",
		`{}`:                                                                               "",
	} {
		if got := c.Stays(object.Object{Raw: []byte(raw)}); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	set := object.Object{Raw: []byte(`{"metadata":{"annotations":{"apps.projectsveltos.io/restored-from":"some-run"},"ownerReferences":[{"kind":"Deployment"}]}}`)}
	set.Kind.Kind = "ReplicaSet"
	if got := c.Stays(set); got != "" {
		t.Errorf("what the Deployment controller copied to a ReplicaSet: %q", got)
	}
	set.Raw = []byte(strings.ReplaceAll(string(set.Raw), "Deployment", "Rollout"))
	if got := c.Stays(set); got != restored {
		t.Errorf("another ReplicaSet: %q, want %q", got, restored)
	}
	if got := c.Stays(object.Object{UID: "u", Raw: []byte(`{}`)}); got != "could not be judged" {
		t.Errorf("unjudged: %q", got)
	}
	if got := c.Stays(object.Object{UID: "u", Raw: []byte(`{}`), Deleting: true}); got != "" {
		t.Errorf("being deleted: %q", got)
	}
}
