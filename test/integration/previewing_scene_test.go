// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// scene is a small cluster of its own, in namespaces that are labelled scene=NAME, and a Cleaner for it. Both are made by chance.
type scene struct {
	*bench
	random     *rand.Rand
	n          uint64
	name       string
	namespaces []string
	// protected is a namespace of --protected-namespaces, or none.
	protected string
	// maxActions is the operator's --max-actions-per-run.
	maxActions int
	objects    []client.Object
	// oddity is how many of a hundred objects are such as some scripts and conditions fail on.
	oddity int
}

func newScene(t *testing.T, seed, n uint64) *scene {
	t.Helper()
	s := &scene{bench: newBench(t), n: n, random: rand.New(rand.NewPCG(seed, n))}
	s.name = s.namespace
	s.oddity = oneOf(s, 0, 0, 5, 20, 90)
	if n%3 == 0 {
		s.oddity = oneOf(s, 20, 20, 90)
	}
	for range 2 + s.random.IntN(2) {
		s.namespaces = append(s.namespaces, s.makeNamespace())
	}
	if s.chance(12) {
		s.protected = oneOf(s, s.namespaces...)
	}
	if s.chance(15) {
		s.maxActions = 1 + s.random.IntN(15)
	}
	for i := range 15 + s.random.IntN(20) {
		s.makeObject(i)
	}
	return s
}

func (s *scene) chance(percent int) bool { return s.random.IntN(100) < percent }

func oneOf[T any](s *scene, of ...T) T { return of[s.random.IntN(len(of))] }

func (s *scene) makeNamespace() string {
	name := s.newNamespace(map[string]string{"scene": s.name, "env": oneOf(s, "prod", "test", "test")})
	if s.chance(15) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		must(s.t, s.user.Get(s.t.Context(), client.ObjectKeyFromObject(ns), ns))
		edit(s.bench, ns, func(ns *corev1.Namespace) {
			ns.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
		})
	}
	must(s.t, s.user.Create(s.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default", Labels: map[string]string{"app": "a"}}}))
	return name
}

// makeObject creates an object. Its name ends with a digit.
func (s *scene) makeObject(i int) {
	meta := metav1.ObjectMeta{Namespace: oneOf(s, s.namespaces...), Name: fmt.Sprintf("o-%d", i), Labels: map[string]string{"scene": s.name}, Annotations: map[string]string{}}
	if s.chance(85) {
		meta.Labels["app"] = oneOf(s, "a", "b")
	}
	if s.chance(s.oddity) {
		meta.Labels["odd"] = "yes"
	}
	if s.chance(10) {
		meta.Annotations[v1alpha1.ProtectAnnotation] = "true"
	}
	if s.chance(4) {
		meta.Labels["app.kubernetes.io/part-of"] = "kubecleaner"
	}
	held := s.chance(15)
	if held {
		meta.Finalizers = []string{"integration.kubecleaner.dev/hold"}
	}
	object := ofKind(oneOf(s, sceneKinds...), meta)
	if s.chance(40) {
		s.own(object)
	}
	must(s.t, s.user.Create(s.t.Context(), object))
	if held && s.chance(50) {
		must(s.t, s.user.Delete(s.t.Context(), object))
	}
	s.objects = append(s.objects, object)
}

// own makes some earlier object of the namespace the owner.
func (s *scene) own(object client.Object) {
	for _, owner := range s.objects {
		kind := map[bool]string{true: "Deployment", false: "ReplicaSet"}
		_, isDeployment := owner.(*appsv1.Deployment)
		_, isReplicaSet := owner.(*appsv1.ReplicaSet)
		if (isDeployment || isReplicaSet) && owner.GetNamespace() == object.GetNamespace() && s.chance(70) {
			object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind[isDeployment], Name: owner.GetName(), UID: owner.GetUID()}})
			return
		}
	}
}

func ofKind(kind string, meta metav1.ObjectMeta) client.Object {
	selector, labels := &metav1.LabelSelector{MatchLabels: map[string]string{"pod": "of-it"}}, map[string]string{"pod": "of-it"}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod}
	switch kind {
	case "Secret":
		return &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": "of-" + meta.Name}}
	case "ServiceAccount":
		return &corev1.ServiceAccount{ObjectMeta: meta}
	case "PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
	case "Pod":
		return &corev1.Pod{ObjectMeta: meta, Spec: pod}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}
	case "Deployment":
		return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
	}
	return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"name": meta.Name}}
}

var sceneKinds = []string{"ConfigMap", "ConfigMap", "ConfigMap", "ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim", "Pod", "Pod", "ReplicaSet", "Deployment"}

// What Cleaners judge and change by. Some fail on objects that are odd, that have no such label, or whose name has no digit.
var (
	sceneConditions = []string{
		"object.metadata.labels.app == 'a'",
		"object.metadata.name.matches('[02468]$')",
		"!has(object.metadata.labels.odd)",
	}
	sceneScripts = []string{
		`function evaluate()
  if (obj.metadata.labels or {}).odd then error("it is odd") end
  return {matching = true, message = "it is " .. obj.metadata.name}
end`,
		`function evaluate() return {matching = tonumber(string.sub(obj.metadata.name, -1)) % 3 > 0, message = "by number"} end`,
		`function evaluate() return {matching = obj.metadata.labels.app ~= "b"} end`,
	}
	sceneAggregates = []string{
		`function evaluate()
  local chosen = {}
  for _, r in ipairs(resources) do
    if (r.metadata.labels or {}).app ~= "b" then table.insert(chosen, {resource = r, message = "chosen"}) end
  end
  return {resources = chosen}
end`,
		`function evaluate()
  local chosen = {}
  for i, r in ipairs(resources) do
    if r.metadata.labels.odd then error("it is odd") end
    if i % 2 == 0 then table.insert(chosen, {resource = r}) end
  end
  return {resources = chosen}
end`,
	}
	sceneTransforms = []string{
		`function transform()
  local labels = obj.metadata.labels or {}
  if labels.odd then error("it is odd") end
  labels.cleaned = "yes"
  obj.metadata.labels = labels
  return {resource = obj, message = "labelled"}
end`,
		`function transform()
  if obj.metadata.labels and obj.metadata.labels.app == "b" then obj.metadata.finalizers = {"integration.kubecleaner.dev/another"} end
  return {resource = obj}
end`,
	}
	scenePatches = []string{`{"metadata":{"labels":{"app":"a"}}}`, `{"metadata":{"annotations":{"cleaned":"yes"}}}`}
)

// choose is a Cleaner of the scene. What is rare by chance is in every third or fourth scene.
func (s *scene) choose(c *v1alpha1.Cleaner) {
	actions := []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionDelete, v1alpha1.ActionTransform, v1alpha1.ActionDelete, v1alpha1.ActionTransform, v1alpha1.ActionScan}
	c.Spec.Action = ptr.To(actions[s.n/2%6])
	selectors := &c.Spec.ResourcePolicySet.ResourceSelectors
	*selectors = nil
	for range 1 + s.random.IntN(4) {
		*selectors = append(*selectors, s.chooseSelector(*c.Spec.Action))
	}
	if s.n%3 == 0 {
		*selectors = append(*selectors, v1alpha1.ResourceSelector{Version: "v1", Kind: "ConfigMap", NamespaceSelector: "scene=" + s.name, Evaluate: sceneScripts[0]})
		c.Spec.OnPartialView = v1alpha1.PartialViewSkip
	} else if s.chance(30) {
		c.Spec.ResourcePolicySet.AggregatedSelection = oneOf(s, sceneAggregates...)
	} else {
		c.Spec.OnPartialView = oneOf(s, "", v1alpha1.PartialViewStop, v1alpha1.PartialViewSkip, v1alpha1.PartialViewSkip)
	}
	if s.chance(15) {
		c.Spec.OccurrenceThreshold = ptr.To[int32](2)
	}
	if s.chance(20) {
		c.Spec.BlastRadiusLimit = oneOf(s, &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(s.random.Int32N(20))}, &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To(1 + s.random.Int32N(100))})
	}
	if s.n%4 == 3 {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(s.random.Int32N(3))}
	}
	if *c.Spec.Action == v1alpha1.ActionDelete && s.chance(30) {
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(oneOf(s, metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground))}
	}
	if *c.Spec.Action == v1alpha1.ActionTransform && s.chance(50) {
		c.Spec.MergePatch = &runtime.RawExtension{Raw: []byte(oneOf(s, scenePatches...))}
	} else if *c.Spec.Action == v1alpha1.ActionTransform {
		c.Spec.Transform = oneOf(s, sceneTransforms...)
	}
}

func (s *scene) chooseSelector(action v1alpha1.Action) v1alpha1.ResourceSelector {
	if action == v1alpha1.ActionDelete && s.chance(6) { // with all that is in it
		return v1alpha1.ResourceSelector{Version: "v1", Kind: "Namespace", LabelFilters: equal("scene", s.name)}
	}
	sel := v1alpha1.ResourceSelector{Version: "v1", Kind: oneOf(s, sceneKinds...)}
	if sel.Kind == "ReplicaSet" || sel.Kind == "Deployment" {
		sel.Group = "apps"
	}
	switch s.random.IntN(6) {
	case 0:
		sel.Namespace = oneOf(s, s.namespaces...)
	case 1:
		sel.NamespaceSelector = "scene=" + s.name + ",env=" + oneOf(s, "prod", "test")
	default:
		sel.NamespaceSelector = "scene=" + s.name
	}
	if s.chance(30) {
		sel.LabelFilters = oneOf(s, equal("app", "a"), has("app"), []v1alpha1.LabelFilter{{Key: "app", Operation: v1alpha1.OperationDoesNotHave}})
	}
	if s.chance(40) {
		sel.ExcludeDeleted = ptr.To(s.chance(30))
	}
	if s.chance(30) {
		sel.MatchConditions = []v1alpha1.MatchCondition{{Name: "chosen", Expression: oneOf(s, sceneConditions...)}}
	}
	if s.chance(45) {
		sel.Evaluate = oneOf(s, sceneScripts...)
	}
	return sel
}

// listed are the objects that are in the namespaces of the scene, and the namespaces.
func (s *scene) listed() (all []unstructured.Unstructured) {
	s.t.Helper()
	list := func(group, kind string, options ...client.ListOption) {
		objects := &unstructured.UnstructuredList{}
		objects.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind + "List"})
		must(s.t, s.user.List(s.t.Context(), objects, options...))
		all = append(all, objects.Items...)
	}
	list("", "Namespace", client.MatchingLabels{"scene": s.name})
	for _, namespace := range s.namespaces {
		for _, kind := range []string{"ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim", "Pod"} {
			list("", kind, client.InNamespace(namespace))
		}
		list("apps", "ReplicaSet", client.InNamespace(namespace))
		list("apps", "Deployment", client.InNamespace(namespace))
	}
	return all
}
