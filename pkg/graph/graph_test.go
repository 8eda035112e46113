// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// loaded are the objects of a YAML text.
func loaded(t *testing.T, text string) (objects []object.Object) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			t.Fatal(err)
		}
		metadata, _ := value["metadata"].(map[string]any)
		namespace, _ := metadata["namespace"].(string)
		kind := schema.GroupKind{Group: groupOf(fmt.Sprint(value["apiVersion"])), Kind: fmt.Sprint(value["kind"])}
		objects = append(objects, testObject(t, kind, namespace, fmt.Sprint(metadata["name"]), value))
	}
	return objects
}

// named reads a Name as the tests write it: "Secret shop/token", or "ClusterRole.rbac.authorization.k8s.io view".
func named(text string) Name {
	kind, name, _ := strings.Cut(text, " ")
	namespace, n, found := strings.Cut(name, "/")
	if !found {
		namespace, n = "", name
	}
	return Name{GroupKind: schema.ParseGroupKind(kind), Namespace: namespace, Name: n}
}

// TestUses is a table of objects and of what they use: "used", "read", "hinted" or "".
func TestUses(t *testing.T) {
	for name, test := range map[string]struct {
		objects string
		want    map[string]string
	}{
		"the claims of a StatefulSet, whatever the ordinal": {`
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: shop, name: web1}
spec: {replicas: 1, serviceName: web, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]}`, map[string]string{
			"PersistentVolumeClaim shop/data-web1-0": "used", "PersistentVolumeClaim shop/data-web1-27": "used", "PersistentVolumeClaim shop/data-web1-": "",
			"PersistentVolumeClaim shop/data-web1-a": "", "PersistentVolumeClaim shop/data-web10": "", "PersistentVolumeClaim other/data-web1-0": "",
			"PersistentVolumeClaim shop/my-data-web1-0": "", "StorageClass.storage.k8s.io fast": "used", "Service shop/web": "used",
		}},
		"the claim of a generic ephemeral volume, of a Pod only": {`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web}
spec: {volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}, {name: other, emptyDir: {}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: maker}
spec: {template: {spec: {volumes: [{name: scratch, ephemeral: {}}]}}}`, map[string]string{
			"PersistentVolumeClaim shop/web-scratch": "used", "PersistentVolumeClaim shop/web-other": "", "PersistentVolumeClaim shop/maker-scratch": "",
			"StorageClass.storage.k8s.io fast": "used", "ServiceAccount shop/default": "used", "ServiceAccount other/default": "",
		}},
		"the account that nobody names": {`
apiVersion: batch/v1
kind: CronJob
metadata: {namespace: shop, name: night}
spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: robot}}}}}`, map[string]string{"ServiceAccount shop/default": "", "ServiceAccount shop/robot": "used"}},
		"the account by its former field": {`
apiVersion: v1
kind: ReplicationController
metadata: {namespace: shop, name: old}
spec: {template: {spec: {serviceAccount: robot}}}`, map[string]string{"ServiceAccount shop/robot": "used"}},
		"a class with variables": {`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: crypt}
provisioner: csi.example.com
parameters:
  csi.storage.k8s.io/node-stage-secret-name: key-${pvc.name}-v1
  csi.storage.k8s.io/node-stage-secret-namespace: ${pvc.namespace}
  csi.storage.k8s.io/provisioner-secret-name: admin
  csi.storage.k8s.io/provisioner-secret-namespace: storage`, map[string]string{
			"Secret shop/key-data-v1": "read", "Secret shop/key-data": "", "Secret shop/key-v1": "", "Secret storage/admin": "used",
			"ConfigMap shop/key-data-v1": "", "CSIDriver.storage.k8s.io csi.example.com": "used",
		}},
		"accounts as users and groups": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: shop, name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, name: "system:serviceaccount:ci:robot"}, {kind: Group, name: "system:serviceaccounts:team"}, {kind: User, name: jane},
  {kind: ServiceAccount, name: local, namespace: shop}]`, map[string]string{
			"ServiceAccount ci/robot": "used", "ServiceAccount shop/robot": "", "ServiceAccount team/any": "hinted", "ServiceAccount shop/any": "",
			"ServiceAccount shop/local": "used", "ClusterRole.rbac.authorization.k8s.io view": "used", "Role.rbac.authorization.k8s.io shop/view": "",
		}},
		"all accounts": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, name: "system:serviceaccounts"}]`, map[string]string{"ServiceAccount team/any": "hinted"}},
		"everybody who has logged in": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, name: "system:authenticated"}]`, map[string]string{"ServiceAccount team/any": "hinted"}},
		"all accounts, by a binding that each cluster has": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b, labels: {kubernetes.io/bootstrapping: rbac-defaults}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, name: "system:serviceaccounts"}]`, map[string]string{"ServiceAccount team/any": ""}},
		"names in rules": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: shop, name: r}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [a, "*"]}, {apiGroups: [apps], resources: ["*"], resourceNames: [b]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: ["*"], resources: ["*"], resourceNames: [c]}, {apiGroups: [""], resources: [serviceaccounts/token], resourceNames: [d]}]`, map[string]string{
			"ConfigMap shop/a": "read", "ConfigMap other/a": "", "Secret shop/a": "", "ConfigMap shop/b": "", "Secret any/c": "read",
			"PersistentVolumeClaim any/c": "read", "ServiceAccount any/d": "read", "Secret any/d": "",
		}},
		"aggregated roles": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: monitors, labels: {e: f}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}, matchExpressions: [{key: c, operator: NotIn, values: [d]}]}, {matchLabels: {e: f}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: in, labels: {a: b}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: out, labels: {a: b, c: d}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: too, labels: {e: f}}`, map[string]string{
			"ClusterRole.rbac.authorization.k8s.io in": "used", "ClusterRole.rbac.authorization.k8s.io out": "",
			"ClusterRole.rbac.authorization.k8s.io too": "used", "ClusterRole.rbac.authorization.k8s.io monitors": "",
		}},
		"parameters for a driver of devices": {`
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: shop, name: gpu}
spec: {devices: {config: [{opaque: {driver: d, parameters: {secretName: key, server: {apiVersion: v1, kind: Service, name: web}}}}]}}`, map[string]string{
			"Secret shop/key": "used", "Service shop/web": "",
		}},
		"roles that those of each cluster take in": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: into-view, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: not-into-view, labels: {rbac.authorization.k8s.io/aggregate-to-view: "false"}}`, map[string]string{
			"ClusterRole.rbac.authorization.k8s.io into-view": "used", "ClusterRole.rbac.authorization.k8s.io not-into-view": "",
		}},
		"the parameters of an admission policy": {`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: one}
spec: {policyName: p, paramRef: {name: limits, namespace: rules}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: two}
spec: {policyName: p, paramRef: {name: own}}`, map[string]string{
			"ConfigMap rules/limits": "used", "ConfigMap shop/limits": "", "ConfigMap shop/own": "used",
			"ValidatingAdmissionPolicy.admissionregistration.k8s.io p": "used",
		}},
		"a mirror": {`
apiVersion: v1
kind: Secret
metadata: {namespace: shop, name: tls, annotations: {reflector.v1.k8s.emberstack.com/reflects: certs/wildcard}}`, map[string]string{
			"Secret certs/wildcard": "used", "ConfigMap certs/wildcard": "",
		}},
		"the secret of an older volume": {`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {claimRef: {namespace: shop, name: data}, storageClassName: slow, rbd: {secretRef: {name: ceph}}}`, map[string]string{
			"Secret shop/ceph": "used", "PersistentVolumeClaim shop/data": "", "StorageClass.storage.k8s.io slow": "used",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := BuiltIn()
			if err != nil {
				t.Fatal(err)
			}
			g := New(table, map[schema.GroupKind]bool{clusterRoleKind: true})
			for of := range test.want {
				g.Watch(named(of))
			}
			for _, o := range loaded(t, strings.TrimSpace(test.objects)) {
				g.Add(o.Parts())
				g.Add(o.Parts()) // as when a list begins anew
			}
			for of, want := range test.want {
				use, got := g.Use(named(of)), ""
				switch {
				case use.IsUsed():
					got = "used"
				case use.Read:
					got = "read"
				case use.Hinted:
					got = "hinted"
				}
				if got != want {
					t.Errorf("%s is %q, want %q: %+v", of, got, want, use)
				}
				if seen := len(g.Evidence(named(of))) > 0; seen != (got != "") {
					t.Errorf("there is evidence for %s: %t", of, seen)
				}
				if use.Live != g.IsLive(named(of)) {
					t.Errorf("%s is live: %t", of, use.Live)
				}
			}
		})
	}
}

// What is idle uses nothing, and reads nothing.
func TestIdleUsers(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: shop, name: r}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [a]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: d}
spec: {replicas: 0, template: {spec: {volumes: [{configMap: {name: b}}]}}}`)) {
		g.Add(o.Parts())
	}
	if use := g.Use(named("ConfigMap shop/b")); use.IsUsed() || !use.IsNamed() {
		t.Errorf("%+v", use)
	}
	if use := g.Use(named("ConfigMap shop/a")); !use.Read || use.IsUsed() || use.IsNamed() {
		t.Errorf("%+v", use)
	}
	g.SetIdle(named("Role.rbac.authorization.k8s.io shop/r"))
	if use := g.Use(named("ConfigMap shop/a")); !use.Read { // whoever gets the right may read it
		t.Errorf("%+v", use)
	}
}

// A use that is stronger counts, and users beyond those that are kept apart count as well.
func TestManyUsers(t *testing.T) {
	g := New(&Table{}, nil)
	edge := Edge{To: named("ConfigMap shop/a"), Strength: Reads}
	g.name(edge, g.user(named("Pod shop/p")), true)
	if use := g.Use(edge.To); use.Live || use.IsUsed() || !use.Read {
		t.Errorf("%+v", use)
	}
	edge.Strength, edge.Path = Learned, "learned"
	g.name(edge, g.user(named("Pod shop/p")), false)
	edge.Strength, edge.Path = Names, "named"
	g.name(edge, g.user(named("Pod shop/p")), false)
	edge.Strength = Hints
	g.name(edge, g.user(named("Pod shop/p")), false)
	if use := g.Use(edge.To); len(use.Users) != 1 || use.Users[0].Path != "named" || use.Users[0].Strength != Names || use.Live {
		t.Errorf("%+v", use)
	}
	edge.Strength = Names
	for i := range maxUsersOf + 1 {
		g.name(edge, g.user(named(fmt.Sprintf("Pod shop/p%d", i))), false)
	}
	if use := g.Use(edge.To); len(use.Users) != maxUsersOf || !use.Live {
		t.Errorf("%d users, live: %t", len(use.Users), use.Live)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, test := range map[string]struct{ yes, no string }{
		"*/*":       {"a/b", ""},
		"a/*":       {"a/b", "b/b"},
		"*/b":       {"a/b", "a/c"},
		"a/b-#":     {"a/b-0 a/b-12", "a/b- a/b-x c/b-0 a/b"},
		"*/b-#":     {"c/b-0", "c/b"},
		"a/b-*-c":   {"a/b-x-c a/b--c", "a/b-c a/b-x-d"},
		"a-*/b*b":   {"a-/bb a-x/bab", "a-x/b a/bb"},
		"a/*x*y*-#": {"a/xy-1 a/1x2y3-4", "a/xy- a/yx-1"},
	} {
		g := New(&Table{}, nil)
		g.name(Edge{To: named("Secret " + pattern), Strength: Names}, g.user(named("Pod a/p")), false)
		for want, objects := range map[bool]string{true: test.yes, false: test.no} {
			for _, o := range strings.Fields(objects) {
				if use := g.Use(named("Secret " + o)); use.IsUsed() != want || len(use.Users) > 1 {
					t.Errorf("%s is used by %s: %t", o, pattern, use.IsUsed())
				}
				if named("Secret "+pattern).matches(named("Secret "+o)) != want {
					t.Errorf("%s matches %s: %t", pattern, o, !want)
				}
			}
		}
		if g.Use(named("ConfigMap a/b-0")).IsUsed() {
			t.Errorf("a ConfigMap is used by a Secret's pattern")
		}
		g.Absent(func(name Name, _ []User) { t.Errorf("%s is absent", name) })
	}
}

// What stands in a text that a Pod is given may be read by its name.
func TestMentions(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: v1
kind: Pod
metadata:
  namespace: shop
  name: p
  annotations: {note: "see said-here, and\nsaid-below \"said-quoted\"", kubectl.kubernetes.io/last-applied-configuration: said-twice}
spec: {containers: [{args: ["--config=in-args", abc, "cat <in-angle >in-other&in-third", "--certificate=certs/in-pair --other=a/in-short", "http://a.b//none"], command: [in-command], env: [{name: in-name, value: "in-env:x, http://in-host.edge.svc.cluster.local:80/ --in-flag and in-sentence."}], image: in-image}], initContainers: [{args: [in-init]}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {namespace: shop, name: c}
spec: {jobTemplate: {spec: {template: {metadata: {annotations: {a: in-template}}, spec: {containers: [{args: [in-job]}]}}}}}`)) {
		g.Add(o.Parts())
	}
	for _, name := range []string{"said-here", "said-below", "said-quoted", "in-args", "in-command", "in-env", "in-flag", "in-sentence", "in-init", "in-template", "in-job", "in-angle", "in-other", "in-third"} {
		if !g.IsMentioned(named("ConfigMap shop/" + name)) {
			t.Errorf("%s is not mentioned", name)
		}
	}
	for _, name := range []string{"certs/in-pair", "shop/in-pair", "a/in-short", "edge/in-host"} {
		if !g.IsMentioned(named("ConfigMap " + name)) {
			t.Errorf("%s is not mentioned", name)
		}
	}
	for _, name := range []string{"a.b/none", "other/in-pair", "shop/in-host", "shop/said-twice", "shop/abc", "shop/in-name", "shop/in-image", "shop/nsaid-below", "other/in-args"} {
		if g.IsMentioned(named("ConfigMap " + name)) {
			t.Errorf("%s is mentioned", name)
		}
	}
}

// Any string of a custom resource may be a name, whatever its field is called: in its namespace, or in all when it has none.
func TestMentionsInCustomResources(t *testing.T) {
	table, err := NewTable([]Source{
		{Kind: "Widget.example.com", Guess: []string{"spec"}},
		{Kind: "ClusterWidget.example.com", Guess: []string{"spec"}},
		{Kind: "Ingress.networking.k8s.io", Guess: []string{"spec"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, map[schema.GroupKind]bool{{Group: "example.com", Kind: "ClusterWidget"}: true})
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: example.com/v1
kind: Widget
metadata:
  namespace: shop
  name: its-own-name
  labels: {app: in-label}
  annotations: {note: in-annotation, kubectl.kubernetes.io/last-applied-configuration: '{"title": "said-twice"}'}
spec: {title: in-title, host: in-host.edge.svc, a-key: {list: [in-list, "certs/in-pair", "in/a/path", "in a sentence", "in-url:80", "k8s://certs/in-uri", "env:PASSWORD,secret:in-pairs", "certs:in-colons", "/some/in-path.yaml", "Secret/in-kind", "db_in-underscores", "in-key.tls.crt", "certs/in-other-key.tls.crt", "role=acme:in-role", "role:acme:in-second", "certs/acme:in-third", "InCapitals", "secretIn-camel", {repository: registry.io/shop/in-repository}, {image: "registry.io/shop/in-image:1.4"}, "quoted\"in-quotes", "get secret in-a-script or secret:certs/in-its-pair, not plain", "db"]}, last: ""}
status: {binding: {name: in-status}}
---
apiVersion: example.com/v1
kind: ClusterWidget
metadata: {name: w}
spec: {title: of-the-cluster}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: shop, name: i}
spec: {title: in-ingress}`)) {
		g.Add(o.Parts())
	}
	for _, name := range []string{"shop/in-title", "shop/in-list", "shop/in-status", "shop/in-annotation", "shop/of-the-cluster", "other/of-the-cluster", "certs/in-pair", "edge/in-host", "shop/a-key", "shop/in-url", "certs/in-uri", "shop/in-pairs", "certs/in-colons", "a/path", "shop/path", "shop/in-path.yaml", "shop/in-kind", "shop/in-underscores", "shop/in-key", "certs/in-other-key", "shop/in-quotes", "shop/in-a-script", "certs/in-its-pair", "shop/db"} {
		if !g.IsMentioned(named("Secret " + name)) {
			t.Errorf("%s is not mentioned", name)
		}
	}
	for name, want := range map[string]bool{"in-title": true, "of-the-cluster": true, "said-twice": false, "acme:in-role": true, "acme:in-second": true, "acme:in-third": true, "InCapitals": true, "acme:in": false} {
		if got := g.IsMentioned(named("ClusterRole.rbac.authorization.k8s.io " + name)); got != want {
			t.Errorf("the ClusterRole %s is mentioned: %t", name, got)
		}
	}
	for _, name := range []string{
		"other/in-title", "shop/its-own-name", "shop/plain", "other/db", "shop/in-label", "shop/title", "shop/said-twice", "shop/sentence", "shop/in-image", "shop/in-repository", "shop/n-camel",
		"shop/in-ingress",
	} {
		if g.IsMentioned(named("Secret " + name)) {
			t.Errorf("%s is mentioned", name)
		}
	}
}

// Who looks at one namespace keeps no words that could be names in others only.
func TestMentionsOfOneNamespace(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	g.MentionsOf("shop")
	g.Add(loaded(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: edge, name: p}, spec: {template: {spec: {containers: [{args: [shop/config, certs/other]}]}}}}")[0].Parts())
	if !g.IsMentioned(named("ConfigMap shop/config")) || len(g.mentions.words) != 1 {
		t.Errorf("%d words are kept", len(g.mentions.words))
	}
}

// Of an object that is watched, the texts are kept in which its name stands: which object, and which field.
func TestTexts(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	settings := named("ConfigMap shop/settings")
	g.Watch(settings)
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: p, annotations: {example.com/note: "see settings, and settings again"}}
spec: {containers: [{name: a, args: [--verbose, "--config=settings"]}]}
---
apiVersion: v1
kind: Pod
metadata: {namespace: other, name: p}
spec: {containers: [{name: a, args: ["--config=settings", "--from=shop/settings"]}]}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {namespace: shop, name: k}
spec: {own: {theme: settings, themes: [unsettled]}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {namespace: other, name: c}
spec: {config: {database.password: "${configmaps:shop/settings:key}"}}`)) {
		g.Add(o.Parts())
	}
	var got []string
	for _, text := range g.Texts(settings) {
		got = append(got, text.Path+" of "+text.In.String())
	}
	want := "metadata.annotations[example.com/note] of Pod shop/p; spec.containers[].args[] of Pod shop/p; spec.containers[].args[] of Pod other/p; spec.own.theme of Kafka shop/k; " +
		"spec.config[database.password] of KafkaConnector other/c"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("the name stands in\n%s, want\n%s", text, want)
	}
	if !g.IsMentioned(settings) || g.Texts(named("ConfigMap shop/other")) != nil {
		t.Error("what is not watched has texts")
	}
}
