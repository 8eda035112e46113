// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// policy is a policy of somebody else, and its binding.
func (c *clinic) policy(resource string, operation admissionv1.OperationType, action admissionv1.ValidationAction) func() (mend func()) {
	return func() func() {
		policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "keep-" + c.namespace}}
		policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{operation},
				Rule:       admissionv1.Rule{APIGroups: []string{"", v1alpha1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{resource}},
			},
		}}}
		policy.Spec.Validations = []admissionv1.Validation{{Expression: "true"}}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "keep-" + c.namespace}}
		binding.Spec.PolicyName, binding.Spec.ValidationActions = policy.Name, []admissionv1.ValidationAction{action}
		remove, unbind := c.make(policy), c.make(binding)
		return func() { unbind(); remove() }
	}
}

// mutating is a policy of somebody else that changes Secrets, such as those of copies, and its binding.
func (c *clinic) mutating() func() (mend func()) {
	return func() func() {
		policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "change-" + c.namespace}}
		policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"secrets"}},
			},
		}}}
		policy.Spec.ReinvocationPolicy = admissionv1.NeverReinvocationPolicy
		policy.Spec.Mutations = []admissionv1.Mutation{{
			PatchType:          admissionv1.PatchTypeApplyConfiguration,
			ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: `Object{metadata: Object.metadata{labels: {"changed": "true"}}}`},
		}}
		binding := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "change-" + c.namespace}}
		binding.Spec.PolicyName = policy.Name
		remove, unbind := c.make(policy), c.make(binding)
		return func() { unbind(); remove() }
	}
}

// TestDoctorOfPoliciesThatRefuseNothing: one that only warns, and one for what no Cleaner does, are no problem.
func TestDoctorOfPoliciesThatRefuseNothing(t *testing.T) {
	c := newClinic(t)
	for name, injure := range map[string]func() func(){
		"warns":          c.policy("configmaps", admissionv1.Delete, admissionv1.Warn),
		"another action": c.policy("services", admissionv1.Update, admissionv1.Deny),
	} {
		mend := injure()
		if problems, code := c.examined(nil); code != codes.ExitDone {
			t.Errorf("%s: exit %d:\n%s", name, code, strings.Join(problems, "\n"))
		}
		mend()
	}
}

func (c *clinic) brokenAPIs() []injury {
	edit := func(change func(*v1alpha1.CleanerSpec)) (mend func()) {
		before := c.patient.Spec.DeepCopy()
		c.edit(change)
		return func() { c.edit(func(s *v1alpha1.CleanerSpec) { *s = *before }) }
	}
	declares := func(text string) func() (mend func()) {
		return func() func() {
			remove := c.make(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "kubecleaner-references", Namespace: c.namespace}, Data: map[string]string{"shop.yaml": text},
			})
			mend := edit(func(s *v1alpha1.CleanerSpec) {
				s.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](10)}
				s.ResourcePolicySet.ResourceSelectors[0].Finding = &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}
			})
			return func() { mend(); remove() }
		}
	}
	return []injury{
		{
			"a policy of somebody else", c.policy("configmaps", admissionv1.Delete, admissionv1.Deny), "WARN policies: ValidatingAdmissionPolicy/keep-" + c.namespace,
			"what Cleaner unused-" + c.namespace + " does (delete configmaps)", codes.ExitPartial, nil,
		},
		{
			"a policy that keeps records", c.policy("cleanerruns", admissionv1.Delete, admissionv1.Deny), "WARN policies: ValidatingAdmissionPolicy/keep-" + c.namespace,
			"it applies to these requests, and may block them: what the operator does for itself (delete cleanerruns)", codes.ExitPartial, nil,
		},
		{
			"a policy that changes objects", c.mutating(), "WARN policies: MutatingAdmissionPolicy/change-" + c.namespace,
			"it applies to these requests, and may block them: ", codes.ExitPartial, nil,
		},
		{"an APIService without its Service", func() func() {
			return c.dead("things.metrics.k8s.io")
		}, "WARN apiservices: APIService/v1.things.metrics.k8s.io", "it is not available (ServiceNotFound: ", codes.ExitPartial, nil},
		{
			"a mistake in declared references", declares("{"), "FAIL rights: ConfigMap/" + c.namespace + "/kubecleaner-references",
			"touch nothing, because of a mistake: ", codes.ExitError, nil,
		},
		{
			"a mistyped kind in declared references", declares("[{kind: Deployments.apps, references: [{path: a, to: Secret}]}]"),
			"FAIL rights: ConfigMap/" + c.namespace + "/kubecleaner-references", "write Deployment.apps", codes.ExitError, nil,
		},
		{
			"declared references of a kind that is not there", declares("[{kind: Storefront.shop.example.com, references: [{path: a, to: Secret}]}]"),
			"WARN rights: ConfigMap/" + c.namespace + "/kubecleaner-references", "have no effect: Storefront.shop.example.com", codes.ExitPartial, nil,
		},
		{"an APIService that Cleaners need", func() func() {
			bury := c.dead("things.example.com")
			mend := edit(func(s *v1alpha1.CleanerSpec) {
				s.ResourcePolicySet.ResourceSelectors = append(s.ResourcePolicySet.ResourceSelectors, v1alpha1.ResourceSelector{
					Group: "things.example.com", Version: "v1", Kind: "Thing",
				})
			})
			return func() { mend(); bury() }
		}, "FAIL apiservices: APIService/v1.things.example.com", "Cleaners that select its objects touch nothing: unused-" + c.namespace, codes.ExitError, nil},
	}
}

func (c *clinic) brokenDefinitions() []injury {
	type version = apiextensionsv1.CustomResourceDefinitionVersion
	const me = " crds: CustomResourceDefinition/cleaners.apps.projectsveltos.io"
	spec := func(v *version) *apiextensionsv1.JSONSchemaProps {
		properties := v.Schema.OpenAPIV3Schema.Properties["spec"]
		return &properties
	}
	return []injury{
		{"a field is missing", c.alter(func(v *version) {
			delete(spec(v).Properties, "storeResourcePath")
		}), "FAIL crds", "lack fields of this version of KubeCleaner: Cleaner.spec.storeResourcePath", codes.ExitError, nil},
		{
			"a field of approvals is missing", c.forgets("cleanerapprovals", "reason"),
			"FAIL crds: CustomResourceDefinition/cleanerapprovals.apps.projectsveltos.io",
			"it lacks fields, which the API server drops: spec.reason", codes.ExitError, nil,
		},
		{"no rules", c.alter(func(v *version) {
			without := spec(v)
			without.XValidations = nil
			v.Schema.OpenAPIV3Schema.Properties["spec"] = *without
		}), "FAIL" + me, "it lacks rules (x-kubernetes-validations) at spec: the API server stores mistakes that it should refuse", codes.ExitError, nil},
		{"no checks of values", c.alter(func(v *version) {
			v.Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
		}), "FAIL" + me, "it does not check what this version checks, at the object (required), the object (x-kubernetes-preserve-unknown-fields): " +
			"the API server stores mistakes that it should refuse", codes.ExitError, nil},
		{"no status subresource", c.alter(func(v *version) {
			v.Subresources = nil
		}), "FAIL" + me, "it has no status subresource: the operator cannot write the status of cleaners, so nothing runs", codes.ExitError, nil},
		{"other bounds", c.alter(func(v *version) {
			schedule := spec(v).Properties["schedule"]
			schedule.MaxLength = ptr.To[int64](9)
			spec(v).Properties["schedule"] = schedule
		}), "WARN" + me, "it differs from that of this version at spec.schedule (maxLength)", codes.ExitPartial, nil},
		{"another stored version", func() func() {
			return c.storeAs("v1")
		}, "FAIL" + me, "cleaners are stored as v1alpha1, v1, and this version of KubeCleaner stores only v1alpha1", codes.ExitError, nil},
	}
}

// dead is an APIService whose Service does not exist.
func (c *clinic) dead(group string) (mend func()) {
	service := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": group, "version": "v1", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
		"service": map[string]any{"namespace": c.namespace, "name": "gone"},
	}}}
	service.SetAPIVersion("apiregistration.k8s.io/v1")
	service.SetKind("APIService")
	service.SetName("v1." + group)
	remove := c.make(service)
	served := func(want bool) {
		c.eventually(func(context.Context) (bool, error) {
			raw, err := discovery.NewDiscoveryClientForConfig(realCluster(c.T).Config)
			if err != nil {
				return false, err
			}
			groups, _, _, err := raw.GroupsAndMaybeResources()
			has := slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == group })
			return err == nil && has == want, nil
		})
	}
	c.eventually(func(context.Context) (bool, error) {
		problems, _ := c.examined(nil)
		return slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, "ServiceNotFound") }), nil
	})
	return func() { remove(); served(false) }
}

// crds is a client of CustomResourceDefinitions, and that of the plural name.
func (c *clinic) crds(plural string) (client.Client, *apiextensionsv1.CustomResourceDefinition) {
	c.Helper()
	scheme := runtime.NewScheme()
	must(c.T, apiextensionsv1.AddToScheme(scheme))
	definitions, err := client.New(realCluster(c.T).Config, client.Options{Scheme: scheme})
	must(c.T, err)
	var crd apiextensionsv1.CustomResourceDefinition
	must(c.T, definitions.Get(c.Context(), client.ObjectKey{Name: plural + ".apps.projectsveltos.io"}, &crd))
	return definitions, &crd
}

// published waits until doctor finds the CustomResourceDefinitions well, or not.
func (c *clinic) published(well bool) {
	c.Helper()
	c.eventually(func(context.Context) (bool, error) {
		problems, _ := c.examined(nil)
		return well != slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, " crds: ") }), nil
	})
}

// alter changes the version of the CustomResourceDefinition of Cleaners, and waits until the API server serves it.
func (c *clinic) alter(change func(*apiextensionsv1.CustomResourceDefinitionVersion)) func() (mend func()) {
	return func() func() {
		definitions, crd := c.crds("cleaners")
		before := crd.DeepCopy()
		change(&crd.Spec.Versions[0])
		must(c.T, definitions.Update(c.Context(), crd))
		c.published(false)
		return func() {
			crd.Spec = before.Spec
			must(c.T, definitions.Update(c.Context(), crd))
			c.published(true)
			c.eventually(func(ctx context.Context) (bool, error) { // the status is served again
				err := c.Status().Patch(ctx, c.patient, client.RawPatch(types.MergePatchType, []byte("{}")))
				return err == nil, nil
			})
		}
	}
}

// forgets takes a field out of the spec of a CustomResourceDefinition.
func (c *clinic) forgets(plural, name string) func() (mend func()) {
	return func() func() {
		definitions, crd := c.crds(plural)
		before := crd.DeepCopy()
		delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, name)
		must(c.T, definitions.Update(c.Context(), crd))
		return func() {
			crd.Spec = before.Spec
			must(c.T, definitions.Update(c.Context(), crd))
		}
	}
}

// storeAs makes another version the one in which Cleaners are stored.
func (c *clinic) storeAs(name string) (mend func()) {
	definitions, crd := c.crds("cleaners")
	before := crd.DeepCopy()
	other := *crd.Spec.Versions[0].DeepCopy()
	other.Name, other.Served = name, false
	crd.Spec.Versions[0].Storage = false
	crd.Spec.Versions = append(crd.Spec.Versions, other)
	must(c.T, definitions.Update(c.Context(), crd))
	c.rewritten()
	return func() {
		crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = true, false
		must(c.T, definitions.Update(c.Context(), crd))
		c.rewritten()
		crd.Status.StoredVersions = []string{"v1alpha1"}
		must(c.T, definitions.Status().Update(c.Context(), crd))
		crd.Spec = before.Spec
		must(c.T, definitions.Update(c.Context(), crd))
		c.published(true)
	}
}

// rewritten writes the Cleaner in the version that it is to be stored in from now on. The API server takes a while to
// know that version: until then, an update that changes nothing writes nothing.
func (c *clinic) rewritten() {
	c.Helper()
	c.eventually(func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(c.patient), c.patient); err != nil {
			return false, err
		}
		before := c.patient.ResourceVersion
		err := c.Update(ctx, c.patient)
		return err == nil && c.patient.ResourceVersion != before, err
	})
}
