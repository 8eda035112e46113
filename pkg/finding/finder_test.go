// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// now is when the tests look.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// resources are the kinds of the tests, as apiVersion and kind. Those with a "-" before them are cluster-scoped.
var resources = []string{
	"v1 Pod", "v1 ConfigMap", "v1 Secret", "v1 PersistentVolumeClaim", "v1 ServiceAccount", "v1 Service", "v1 ReplicationController", "v1 PodTemplate",
	"-v1 PersistentVolume", "-v1 Node", "-v1 Namespace", "v1 Event", "v1 Endpoints",
	"apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "apps/v1 ReplicaSet", "apps/v1 ControllerRevision",
	"batch/v1 Job", "batch/v1 CronJob", "autoscaling/v2 HorizontalPodAutoscaler", "policy/v1 PodDisruptionBudget",
	"networking.k8s.io/v1 Ingress", "networking.k8s.io/v1 NetworkPolicy", "-networking.k8s.io/v1 IngressClass", "discovery.k8s.io/v1 EndpointSlice",
	"-storage.k8s.io/v1 StorageClass", "-storage.k8s.io/v1 CSIDriver", "-storage.k8s.io/v1 VolumeAttachment", "-scheduling.k8s.io/v1 PriorityClass", "-node.k8s.io/v1 RuntimeClass",
	"-snapshot.storage.k8s.io/v1 VolumeSnapshotClass", "snapshot.storage.k8s.io/v1 VolumeSnapshot", "coordination.k8s.io/v1 Lease",
	"rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding",
	"-rbac.authorization.k8s.io/v1 ClusterRole", "-rbac.authorization.k8s.io/v1 ClusterRoleBinding",
	"-admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "-admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
	"-admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", "-admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
	"-apiregistration.k8s.io/v1 APIService", "-apiextensions.k8s.io/v1 CustomResourceDefinition", "example.com/v1 Widget", "example.com/v1 Event",
	"gateway.networking.k8s.io/v1 Gateway", "-gateway.networking.k8s.io/v1 GatewayClass", "gateway.networking.k8s.io/v1 HTTPRoute",
	"gateway.networking.k8s.io/v1 GRPCRoute", "gateway.networking.k8s.io/v1 TLSRoute", "gateway.networking.k8s.io/v1 TCPRoute",
	"gateway.networking.k8s.io/v1 UDPRoute", "keda.sh/v1alpha1 ScaledObject", "kube-green.com/v1alpha1 SleepInfo", "argoproj.io/v1alpha1 Rollout", "kubevirt.io/v1 VirtualMachine", "multicluster.x-k8s.io/v1alpha1 ServiceExport", "postgresql.cnpg.io/v1 Cluster", "sparkoperator.k8s.io/v1beta2 SparkApplication", "-objectstorage.k8s.io/v1alpha1 BucketClass", "kueue.x-k8s.io/v1beta1 Workload", "networking.istio.io/v1 Sidecar",
	"apps.openshift.io/v1 DeploymentConfig", "build.openshift.io/v1 BuildConfig", "route.openshift.io/v1 Route",
}

// moreReferences are paths of custom resources that the tests need, beside those of the table.
const moreReferences = `
- kind: Widget.example.com
  podTemplates: [spec.template]
  references:
  - {path: spec.secretName, to: Secret}
  - {path: spec.learned.secretName, to: Secret, strength: Learned}
  - {path: spec.scaleTargetRef.name, kindField: kind, groupField: apiVersion, kinds: [Deployment.apps, StatefulSet.apps], strength: Learned}
- kind: BucketClass.objectstorage.k8s.io
  references:
  - {path: spec.secretName, to: Secret, strength: Learned}
`

// scenario is a small cluster and all that is found in it.
type scenario struct {
	// cluster is YAML, and unread the kinds that may not be read.
	cluster string
	unread  []string
	// want are the findings, one a line: the object, the type, and what is special about it: "unknown" or "weak".
	want string
}

// scenarios are those of all themes.
func scenarios() map[string]scenario {
	all := map[string]scenario{}
	for _, theme := range []map[string]scenario{
		namedScenarios, secretScenarios, storageScenarios, podScenarios, jobScenarios, workloadScenarios, serviceScenarios,
		roleScenarios, selectiveScenarios, routingScenarios, danglingScenarios, namespaceScenarios, markedScenarios, exemptScenarios,
		readerScenarios, claimedScenarios,
	} {
		for name, s := range theme {
			if _, twice := all[name]; twice {
				panic("two scenarios are called " + name) //nolint:forbidigo // tests and benchmarks share it
			}
			all[name] = s
		}
	}
	return all
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := find(t, s)
			if got, want := lines(found), strings.TrimSpace(s.want); got != want {
				t.Errorf("found:\n%s\n\nwant:\n%s", got, want)
			}
			for _, f := range found { // how sure is what nobody knows?
				if isUnknown := len(f.Unknown) > 0; isUnknown != (f.Confidence == "") {
					t.Errorf("%s is unknown: %t, and its confidence is %q", f.String(), isUnknown, f.Confidence)
				}
			}
		})
	}
}

// Each row has a scenario in which it finds something, one in which it finds nothing in an object of its kind, and, where it needs other kinds to know,
// one in which it cannot tell.
func TestScenariosOfEachRow(t *testing.T) {
	t.Parallel()
	tellable := map[string]bool{} // rows that are never unknown: what they find, the object says itself, or they stay silent
	for _, kind := range []string{
		"Pod Failed", "Pod Finished", "Pod Unhealthy", "Job Finished", "Job Failed", "CronJob Unhealthy", "Deployment Unhealthy",
		"DaemonSet Idle", "Secret CertificateExpired", "* Stuck",
	} {
		tellable[kind] = true
	}
	all, objects := scenarios(), map[string][]object.Object{}
	for name, s := range all {
		objects[name] = objectsOf(t, s, served(t))
	}
	for _, row := range finding.Rows() {
		var found, spared, unknown bool
		for name, s := range all {
			for _, o := range objects[name] {
				if o.Kind.Kind != row.Kind.Kind && row.Kind.Kind != "*" {
					continue
				}
				line := o.String() + " " + string(row.Type)
				has, hasUnknown := slices.Contains(strings.Split(s.want, "\n"), line), strings.Contains(s.want, line+" unknown")
				has = has || strings.Contains(s.want, line+" weak")
				found, spared, unknown = found || has, spared || !has && !hasUnknown, unknown || hasUnknown
			}
		}
		name := row.Kind.Kind + " " + string(row.Type)
		if !found || !spared {
			t.Errorf("%s: there is a scenario in which it is found: %t; and one in which it is not: %t", name, found, spared)
		}
		if needs := !tellable[name] && row.Type != v1alpha1.FindingDangling && row.Type != v1alpha1.FindingCascading; needs != unknown && row.Type != v1alpha1.FindingCascading {
			t.Errorf("%s: there is a scenario in which it is unknown: %t, want %t", name, unknown, needs)
		}
		if row.Means == "" {
			t.Errorf("%s says not what it means", name)
		}
	}
}

// Surest says of each type what the scenarios show: some of its findings are Certain, or none is.
func TestSurest(t *testing.T) {
	t.Parallel()
	isCertain := map[finding.Want]bool{}
	for _, s := range scenarios() {
		for _, f := range find(t, s) {
			want := finding.Want{Kind: f.Kind.GroupKind(), Type: f.Type}
			isCertain[want] = isCertain[want] || f.Confidence == v1alpha1.ConfidenceCertain
		}
	}
	for want, certain := range isCertain {
		if said := finding.Surest(want.Kind, want.Type); (said == v1alpha1.ConfidenceCertain) != certain {
			t.Errorf("%s %s: a scenario shows one that is Certain: %t, but the surest is said to be %s", want.Kind, want.Type, certain, said)
		}
	}
}

// served are the kinds of the tests.
func served(t testing.TB) (kinds []object.Kind) {
	t.Helper()
	for _, name := range resources {
		name, isCluster := strings.CutPrefix(name, "-")
		apiVersion, kind, _ := strings.Cut(name, " ")
		found := kindOf(t, apiVersion, kind)
		found.Namespaced = !isCluster
		kinds = append(kinds, found)
	}
	return kinds
}

func kindOf(t testing.TB, apiVersion, kind string) object.Kind {
	t.Helper()
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	return object.Kind{GroupVersionKind: gv.WithKind(kind), Resource: strings.ToLower(kind) + "s", Namespaced: true}
}

// table is the built-in one with moreReferences.
var table = sync.OnceValues(func() (*graph.Table, error) {
	sources, err := graph.Parse([]byte(moreReferences), nil)
	if err != nil {
		return nil, err
	}
	builtIn, err := graph.BuiltInSources()
	if err != nil {
		return nil, err
	}
	return graph.NewTable(append(builtIn, sources...))
})

func tableOf(t testing.TB) *graph.Table {
	t.Helper()
	found, err := table()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// find lets all objects pass, and returns the findings.
func find(t testing.TB, s scenario) []*finding.Finding {
	t.Helper()
	return findWith(t, s, finding.Options{Table: tableOf(t), Served: served(t), Now: now})
}

func findWith(t testing.TB, s scenario, options finding.Options) []*finding.Finding {
	t.Helper()
	objects := map[string][]object.Object{}
	for _, o := range objectsOf(t, s, options.Served) {
		objects[o.Kind.Kind] = append(objects[o.Kind.Kind], o)
	}
	f := finding.New(options)
	pass := func(list finding.List) {
		if slices.Contains(s.unread, list.Kind.Kind) {
			f.Unread(list, errors.New("forbidden"))
			return
		}
		for _, o := range objects[list.Kind.Kind] {
			if !list.Selects(o) || options.Namespace != "" && list.Kind.Namespaced && !list.Everywhere && o.Namespace != options.Namespace {
				continue
			}
			if list.MetadataOnly {
				o.Raw = []byte(`{"metadata":` + string(object.JSON(o.Raw).Field("metadata")) + `}`)
			}
			f.Look(list, o)
			f.Look(list, o) // a list that had to begin anew
		}
	}
	for _, list := range f.Lists() {
		pass(list)
	}
	for _, list := range f.Details() {
		pass(list)
	}
	return slices.Collect(f.Findings())
}

func objectsOf(t testing.TB, s scenario, kinds []object.Kind) (all []object.Object) {
	t.Helper()
	for i, text := range strings.Split(strings.TrimSpace(s.cluster), "\n---\n") {
		all = append(all, load(t, text, i, kinds))
	}
	return all
}

// lines tells the findings as scenarios want them.
func lines(found []*finding.Finding) string {
	var all []string
	for _, f := range found {
		line := fmt.Sprintf("%s %s", f.String(), f.Type)
		switch {
		case len(f.Unknown) > 0:
			line += " unknown"
		case f.Confidence == v1alpha1.ConfidenceWeak:
			line += " weak"
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func load(t testing.TB, text string, i int, kinds []object.Kind) object.Object {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	value := object.JSON(raw)
	for _, kind := range kinds {
		if kind.Kind != value.Field("kind").Text() || kind.APIVersion() != value.Field("apiVersion").Text() {
			continue
		}
		meta := fmt.Sprintf(`"metadata":{"uid":"uid-%d","resourceVersion":"1",`, i)
		o, err := object.New(kind, []byte(strings.Replace(string(raw), `"metadata":{`, meta, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	t.Fatalf("the tests do not know the kind of:\n%s", text)
	return object.Object{}
}

// cluster joins objects of one kind for a scenario: their apiVersion and kind, and each one's other fields.
func cluster(objects ...string) string { return strings.Join(objects, "\n---\n") }

// of is one object: "v1 ConfigMap shop/settings" or "v1 Node one", more of its metadata, and its other fields.
func of(identity, meta string, fields ...string) string {
	parts := strings.Fields(identity)
	namespace, name, namespaced := strings.Cut(parts[2], "/")
	metadata := "name: \"" + namespace + "\""
	if namespaced {
		metadata = "namespace: " + namespace + ", name: \"" + name + "\""
	}
	if meta != "" {
		metadata += ", " + meta
	}
	return "apiVersion: " + parts[0] + "\nkind: " + parts[1] + "\nmetadata: {" + metadata + "}\n" + strings.Join(fields, "\n")
}

// pod is the spec of a Pod in a template that takes a ConfigMap as its environment.
func pod(settings string) string {
	return "{containers: [{name: a, image: i, envFrom: [{configMapRef: {name: " + settings + "}}]}]}"
}

// ago is a time before now, as objects have it.
func ago(d time.Duration) string { return "\"" + now.Add(-d).Format(time.RFC3339) + "\"" }
