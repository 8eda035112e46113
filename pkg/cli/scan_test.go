// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/scan"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
)

// TestScanOfManifests prints what is found in manifests, in each form.
func TestScanOfManifests(t *testing.T) {
	t.Chdir("testdata/scan")
	const complete = "scan --from dump.yaml --complete "
	for name, line := range map[string]string{
		"table": complete, "wide": complete + "-o wide", "json": complete + "-o json", "yaml": complete + "-o yaml --type Unused --kind cm", "name": complete + "-o name",
		"csv": complete + "-o csv", "markdown": complete + "-o markdown", "cleaner": complete + "-o cleaner", "cleaner-narrow": complete + "-o cleaner --kind cm --exclude web,kube-* -l app,tier!=db",
		"namespace": complete + "-n web", "kind": complete + "--kind pvc,Deployment", "type": complete + "--type idle", "labels": complete + "-l app=old",
		"exclude": complete + "--exclude we* --exclude ConfigMap/un* --exclude Deployment/shop/night", "exclude-short": complete + "--exclude cm/un* --exclude deployments.apps/shop/night", "exclude-unknown": complete + "--kind cm,deploymnet --exclude confgimap/x --exclude Nosuch/web/y --exclude zz*/a", "fail": complete + "--fail-on-findings=3", "fail-not": complete + "--fail-on-findings=100",
		"undecided": "scan --from undecided.yaml --complete", "undecided-partly": "scan --from undecided.yaml", "undecided-mark": "scan --from marked.yaml --complete", "undecided-markdown": "scan --from undecided.yaml --complete -o markdown",
		"cleaner-declared": "scan --from dump.yaml,shop.yaml --complete --kind cm,secret -o cleaner --references references.yaml", "partial": "scan --from dump.yaml", "learned": "scan --from dump.yaml,shop.yaml --complete --kind cm,secret", "declared": "scan --from dump.yaml,shop.yaml --complete --kind cm,secret --references references.yaml",
		"name-once":     "scan --from expired.yaml --complete -o name",
		"kinds-unknown": complete + "-n shop --kind deploymnet,confgimap,sc", "types-unknown": complete + "--type Unsued,nothing", "confidence": complete + "-o name --min-confidence CERTAIN",
		"dangling": complete + "--from ingress.yaml --type Dangling -o name", "not-dangling": complete + "--from ingress.yaml --kind ing -o name",
		"nothing":       complete + "--kind netpol",
		"one-namespace": "scan --from one-namespace.yaml --limit 0", "one-namespace-complete": "scan --from one-namespace.yaml --limit 0 --complete",
		"kind-unknown": complete + "--kind deploymnet", "kind-scope": complete + "-n shop --kind sc", "kind-type": complete + "--kind cm --type Idle", "type-unknown": complete + "--type Unsued",
		"namespace-unknown": complete + "-n shpo", "exclude-wrong": complete + "--exclude a/b/c/d", "selector-wrong": complete + "-l a=b=c", "complete-alone": "scan --complete",
		"references-wrong": complete + "--references dump.yaml", "references-mistyped": complete + "--from shop.yaml --references mistyped.yaml --references dump.yaml", "from-context": complete + "--context prod", "from-as": complete + "--as dev", "role-of-manifests": complete + "-o role",
		"fail-number": complete + "--fail-on-findings 5", "fail-word": complete + "--fail-on-findings five", "exclude-empty": complete + "--exclude web --exclude=", "kind-empty": complete + "--kind=", "cleaner-everywhere": complete + "-o cleaner --namespace=", "exclude-part": complete + "--exclude web,,shop",
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(line, "dump.yaml,shop.yaml", "dump.yaml --from shop.yaml"))
			golden(t, "../../../golden/scan-"+name+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

// TestScanUnknownWins: a list of which something is unknown is not whole, whatever else was found.
func TestScanUnknownWins(t *testing.T) {
	t.Chdir("testdata/scan")
	for line, want := range map[string]int{
		"--complete": codes.ExitPartial, "--complete --fail-on-findings": codes.ExitPartial, "--fail-on-findings": codes.ExitPartial,
		"--complete --kind cm --fail-on-findings": codes.ExitFindings,
	} {
		if got := call(t.Context(), t, "", nil, strings.Fields("scan --from unserved.yaml "+line)...); got.code != want {
			t.Errorf("scan %s: exit %d, want %d:\n%s%s", line, got.code, want, got.out, got.errOut)
		}
	}
}

// TestScanOfTheStandardInput reads manifests that another program prints.
func TestScanOfTheStandardInput(t *testing.T) {
	text, err := os.ReadFile("testdata/scan/dump.yaml")
	must(t, err)
	got := call(t.Context(), t, string(text), nil, "scan", "--from", "-", "--complete", "-o", "name", "--kind", "pvc")
	if got.code != codes.ExitDone || got.out != "PersistentVolumeClaim/shop/data\n" {
		t.Errorf("%+v", got)
	}
	if got = call(t.Context(), t, "", nil, "scan", "--from", "-"); got.code != codes.ExitError || !strings.Contains(got.errOut, "there is no object in the standard input") {
		t.Errorf("%+v", got)
	}
}

// TestCountsOfManifestsWithUnknownGroups reads manifests of groups that nothing defines: what is counted is true, and no
// flag that was given is asked for again.
func TestCountsOfManifestsWithUnknownGroups(t *testing.T) {
	object := func(version, kind string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a, namespace: shop, uid: " + kind + "}\n---\n"
	}
	manifests := object("v1", "ConfigMap") + object("a.example.com/v1", "Widget") + object("b.example.com/v1", "Gadget")
	for name, test := range map[string]struct{ args, says, hint string }{
		"whole":   {"scan --complete", "in 25 of at least 27 kinds", "CustomResourceDefinitions of these groups"},
		"why":     {"why cm/shop/a --complete", "in 25 of at least 27 kinds", "CustomResourceDefinitions of these groups"},
		"in part": {"scan", "1 of at least 27 kinds that can name it could be read, in one namespace only", "dump all namespaces (-A)"},
		"no kind": {"scan --kind Service", "Nothing is known: the manifests hold no object of a kind that the scan looks for.\n", "add --complete"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(t.Context(), t, manifests, nil, append(strings.Fields(test.args), "--from", "-")...)
			text := got.out + got.errOut
			if !strings.Contains(text, test.says) || !strings.Contains(got.errOut, test.hint) || strings.Contains(text, " 0 kinds") {
				t.Errorf("got:\n%s", text)
			}
			if strings.Contains(test.args, "--complete") && strings.Contains(got.errOut, "add --complete") {
				t.Errorf("it asks for what was given:\n%s", got.errOut)
			}
		})
	}
}

// TestScanOfManifestsWithoutKnownKinds: a sentence says that there was nothing to look at, and no kind is counted of which
// nothing could be read.
func TestScanOfManifestsWithoutKnownKinds(t *testing.T) {
	const event = "apiVersion: v1\nkind: Event\nmetadata: {name: a, namespace: shop, uid: a}\n"
	const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: shop, uid: a}\n"
	for name, test := range map[string]struct{ manifests, args, says string }{
		"complete":       {event, "--complete", "No findings in the manifests: there is no object of the 65 kinds that could be read.\n"},
		"in a namespace": {event, "--complete -n shop", "No findings in namespace shop: there is no object of the 46 kinds that could be read.\n"},
		"in part":        {event, "-n shop", "Nothing is known: the manifests hold no object of a kind that the scan looks for in namespace shop.\n"},
		"no user read":   {account, "", "no user found: none of 20 kinds that can name it could be read; not readable: "},
		"no object":      {"# nothing\n", "", "error: there is no object in the standard input\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(t.Context(), t, test.manifests, nil, append([]string{"scan", "--from", "-"}, strings.Fields(test.args)...)...)
			if text := got.out + got.errOut; !strings.Contains(text, test.says) || strings.Contains(text, " 0 ") {
				t.Errorf("exit %d:\n%s", got.code, text)
			}
		})
	}
}

// TestScanOfANamespaceThatManifestsDoNotHold: manifests of another namespace say nothing of it, whether or not they have
// the Namespace itself.
func TestScanOfANamespaceThatManifestsDoNotHold(t *testing.T) {
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, uid: a}\n"
	const namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: web, uid: w}\n"
	for name, test := range map[string]struct {
		manifests, args string
		code            int
		says            string
	}{
		"another alone": {other, "", codes.ExitError, "error: there is no namespace \"web\" in the manifests\nhint: add the manifests of that namespace"},
		"with the Namespace": {
			other + namespace, "", codes.ExitError,
			"error: the manifests hold objects of namespace shop only, and nothing of \"web\"\nhint: add the manifests of that namespace; if it holds nothing, add --complete",
		},
		"it is empty": {other + namespace, "--complete", codes.ExitDone, "No findings in 1 object of 46 kinds"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(t.Context(), t, test.manifests, nil, append([]string{"scan", "--from", "-", "-n", "web"}, strings.Fields(test.args)...)...)
			if text := got.out + got.errOut; got.code != test.code || !strings.Contains(text, test.says) {
				t.Errorf("exit %d:\n%s", got.code, text)
			}
		})
	}
}

// TestScanFormsAgree reads each form for programs, and finds the same objects.
func TestScanFormsAgree(t *testing.T) {
	t.Chdir("testdata/scan")
	out := func(form string) string {
		return call(t.Context(), t, "", nil, "scan", "--from", "dump.yaml", "-o", form).out
	}
	var asJSON, fromYAML scan.Result
	must(t, json.Unmarshal([]byte(out("json")), &asJSON))
	must(t, yaml.Unmarshal([]byte(out("yaml")), &fromYAML))
	rows, err := csv.NewReader(strings.NewReader(out("csv"))).ReadAll()
	must(t, err)
	all := len(asJSON.Findings) + len(asJSON.Unknown)
	if len(asJSON.Unknown) == 0 || all != len(fromYAML.Findings)+len(fromYAML.Unknown) || all != len(rows)-1 {
		t.Errorf("%d in JSON, %d in YAML, %d in CSV", all, len(fromYAML.Findings)+len(fromYAML.Unknown), len(rows)-1)
	}
	if names := strings.Count(out("name"), "\n"); names > len(asJSON.Findings) {
		t.Errorf("%d names of %d findings: what is unknown must not be among them", names, len(asJSON.Findings))
	}
}

// TestScanCleanersAreCleaners decodes what -o cleaner prints, but for the field of findings.
func TestScanCleanersAreCleaners(t *testing.T) {
	t.Chdir("testdata/scan")
	text := call(t.Context(), t, "", nil, "scan", "--from", "dump.yaml", "--complete", "-o", "cleaner", "-l", "app,tier!=db", "--exclude", "web").out
	documents := strings.Split(text, "\n---\n")[1:]
	if len(documents) == 0 {
		t.Fatalf("there is none in:\n%s", text)
	}
	for _, document := range documents {
		var cleaner v1alpha1.Cleaner
		must(t, yaml.Unmarshal([]byte(document), &cleaner))
		spec := cleaner.Spec.ResourcePolicySet.ResourceSelectors[0]
		if cleaner.EffectiveAction() != v1alpha1.ActionScan || len(spec.LabelFilters) != 2 || spec.NamespaceSelector != "kubernetes.io/metadata.name notin (web)" {
			t.Errorf("got %+v of:\n%s", cleaner.Spec, document)
		}
	}
}

// populate fills the test's namespace.
func (s *site) populate() {
	s.Helper()
	for _, name := range []string{"used", "unused", "asleep"} {
		s.configMap(name, nil)
	}
	podSpec := func(configMap string) corev1.PodSpec {
		source := []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}}}
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "i", EnvFrom: source}}}
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: s.namespace, Name: name} }
	labels := map[string]string{"app": "night"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec("asleep")}
	must(s.T, s.Create(s.Context(), &corev1.ServiceAccount{ObjectMeta: meta("default")}))
	pod := &corev1.Pod{ObjectMeta: meta("web"), Spec: podSpec("used")}
	pod.Spec.AutomountServiceAccountToken = ptr.To(false)
	must(s.T, s.Create(s.Context(), pod))
	must(s.T, s.Create(s.Context(), &appsv1.Deployment{ObjectMeta: meta("night"), Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
	}}))
}

// scanned is what -o json says of the test's namespace.
func (s *site) scanned(got session) (result scan.Result) {
	s.Helper()
	if err := json.Unmarshal([]byte(got.out), &result); err != nil {
		s.Fatalf("%v: %s%s", err, got.out, got.errOut)
	}
	return result
}

// lines are findings, one a line.
func (s *site) lines(findings []search.Finding) string {
	var lines []string
	for _, f := range findings {
		if f.Namespace == s.namespace {
			lines = append(lines, string(f.Type)+" "+f.Kind+" "+f.Name)
		}
	}
	return strings.Join(lines, "\n")
}

const populated = "Unused ConfigMap unused\nCascading ConfigMap asleep\nIdle Deployment night"

func TestScanOfACluster(t *testing.T) {
	s := newSite(t)
	s.populate()
	for _, args := range [][]string{{}, {"-n", s.namespace}, {"-A"}} {
		got := s.call(t.Context(), nil, append([]string{"scan", "-o", "json"}, args...)...)
		result := s.scanned(got)
		if found := s.lines(result.Findings); found != populated || got.code != codes.ExitDone || len(result.Unread) > 0 || len(result.Unknown) > 0 {
			t.Errorf("%v: exit %d, found\n%s\nunknown %v, unread %v\n%s", args, got.code, found, result.Unknown, result.Unread, got.errOut)
		}
		for _, f := range result.Findings {
			if len(args) == 2 && f.Namespace != s.namespace {
				t.Errorf("%s/%s is not in the namespace", f.Namespace, f.Name)
			}
		}
	}
	if got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--fail-on-findings"); got.code != codes.ExitFindings {
		t.Errorf("exit %d", got.code)
	}
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace+"x")
	s.wants(got, codes.ExitError, "", "error: there is no namespace \"NSx\"\nhint: did you mean \"NS\"?   [E-CLU-006]\n")
}

// TestScanFindsNothing looks at a namespace in which there is nothing.
func TestScanFindsNothing(t *testing.T) {
	s := newSite(t)
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace)
	if got.code != codes.ExitDone || got.out != "" || !strings.HasPrefix(got.errOut, "No findings in ") {
		t.Errorf("%+v", got)
	}
}

// TestScanForbidden is of somebody who may read most of one namespace, and nothing of the cluster.
func TestScanForbidden(t *testing.T) {
	s := newSite(t)
	s.populate()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{"", "apps", "batch", "networking.k8s.io", "rbac.authorization.k8s.io", "autoscaling", "policy"}, Resources: []string{"*"}, Verbs: []string{"list"}})
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "-o", "json", "--as", user)
	result := s.scanned(got)
	if found := s.lines(result.Findings); got.code != codes.ExitPartial || found != "" {
		t.Errorf("exit %d, found\n%s\n%s", got.code, found, got.errOut)
	}
	if unknown := s.lines(result.Unknown); unknown != "Unused ConfigMap unused\nCascading ConfigMap asleep\nIdle Deployment night" {
		t.Errorf("unknown:\n%s", unknown)
	}
	for _, f := range result.Unknown {
		why := map[string]string{"Unused": "no user found in ", "Cascading": "all that is known to use it is unused or idle: ", "Idle": "it has no replicas, and nothing scales it up, but it is unknown who may start it"}[string(f.Type)]
		if f.Name == "used" || !strings.HasPrefix(f.Reason, why) || len(f.NotReadable) == 0 {
			t.Errorf("got %+v", f)
		}
	}
	unread := slices.DeleteFunc(result.Unread, func(u search.Unread) bool { return u.Elsewhere })
	if all := s.scanned(s.call(t.Context(), nil, "scan", "-n", s.namespace, "-o", "json")); len(unread) == 0 || result.Kinds != all.Kinds-len(unread) {
		t.Errorf("%d kinds were read of %d, although not %v", result.Kinds, all.Kinds, unread)
	}
	text := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--as", user)
	if lines := strings.Count(text.errOut, "\n"); lines > 6 || !strings.Contains(text.errOut, " --as "+user+" -o role\n") {
		t.Errorf("there is no short way to the Role in %d lines:\n%s", lines, text.errOut)
	}
	role := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--as", user, "-o", "role")
	roles, bind, found := strings.Cut(role.out, "\n# kubectl create")
	if !found || role.code != codes.ExitPartial || !strings.Contains(bind, "--user="+user) {
		t.Fatalf("there is no Role in:\n%s", role.out)
	}
	s.grant(roles, user)
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, "scan", "-n", s.namespace, "-o", "json", "--as", user)
		return got.code == codes.ExitDone, nil
	})
	if role := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--as", user, "-o", "role"); role.code != codes.ExitDone || role.out != "" {
		t.Errorf("with all rights, exit %d: %s", role.code, role.out)
	}
	if found := s.lines(s.scanned(got).Findings); found != populated {
		t.Errorf("with the Role that was printed, found:\n%s\n%s", found, got.errOut)
	}
}

// TestScanWithoutRights is of somebody who may list nothing (popeye#288: nothing was read, and the cluster was called good).
func TestScanWithoutRights(t *testing.T) {
	s := newSite(t)
	got := s.call(t.Context(), nil, "scan", "--as", "nobody-"+s.namespace)
	if got.code != codes.ExitPartial || got.out != "" || !strings.Contains(got.errOut, "Nothing could be read, and so nothing is known.\nhint: to look at one namespace, in which you may have more rights: kubectl cleaner scan -n NAMESPACE\nnote: you are not allowed to read all that a scan reads. An administrator") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
	if result := s.scanned(s.call(t.Context(), nil, "scan", "-o", "json", "--as", "nobody-"+s.namespace)); result.Kinds != 0 || result.Objects != 0 {
		t.Errorf("%d objects of %d kinds were read", result.Objects, result.Kinds)
	}
}

// grant creates the Roles, and binds them.
func (s *site) grant(roles, user string) {
	s.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	for document := range strings.SplitSeq(roles, "\n---\n") {
		var role rbacv1.ClusterRole
		must(s.T, yaml.UnmarshalStrict([]byte(document), &role))
		meta := metav1.ObjectMeta{Name: role.Name + "-" + s.namespace, Namespace: role.Namespace}
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "*") || slices.Contains(rule.APIGroups, "*") || !slices.Equal(rule.Verbs, []string{"list"}) && (!slices.Equal(rule.Verbs, []string{"get"}) || len(rule.ResourceNames) != 1) {
				s.Errorf("the Role gives more than it must: %v", rule)
			}
		}
		if role.Kind == "ClusterRole" {
			must(s.T, s.Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: role.Rules}))
			must(s.T, s.Create(s.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind, Name: meta.Name}}))
			continue
		}
		must(s.T, s.Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: role.Rules}))
		must(s.T, s.Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind, Name: meta.Name}}))
	}
}

// proxied is a kubeconfig of a server before the real one, in which each may answer a request itself.
func (s *site) proxied(each func(w http.ResponseWriter, r *http.Request) (answered bool)) string {
	s.Helper()
	env := realCluster(s.T)
	transport, err := rest.TransportFor(env.Config)
	must(s.T, err)
	target, err := url.Parse(env.Config.Host)
	must(s.T, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !each(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	s.Cleanup(server.Close)
	path := filepath.Join(s.TempDir(), "kubeconfig")
	must(s.T, os.WriteFile(path, []byte(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: "`+server.URL+`"}}]}`), 0o600))
	return path
}

// stopsAtDeployments makes a context that ends, as by Ctrl-C, when somebody asks for Deployments.
func (s *site) stopsAtDeployments() context.Context {
	ctx, cancel := context.WithCancel(s.Context())
	s.kubeconfig = s.proxied(func(_ http.ResponseWriter, r *http.Request) bool {
		stops := strings.HasSuffix(r.URL.Path, "/deployments")
		if stops {
			cancel()
			<-r.Context().Done()
		}
		return stops
	})
	return ctx
}

// TestScanIsStopped stops a scan while it reads Deployments: nothing may be called unused then.
func TestScanIsStopped(t *testing.T) {
	s := newSite(t)
	s.populate()
	ctx := s.stopsAtDeployments()
	got := s.call(ctx, nil, "scan", "-o", "json")
	result := s.scanned(got)
	if got.code != codes.ExitInterrupted || !result.Partial || len(result.Unknown) > 0 || !strings.Contains(got.errOut, "note: this is partial") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
	for _, f := range result.Findings {
		if f.Type == v1alpha1.FindingUnused && f.Kind == "ConfigMap" {
			t.Errorf("%s is said to be unused", f.Name)
		}
	}
}

// TestScanWithABrokenListOfNames: only the list of the names of ConfigMaps fails, and not the one of their data.
func TestScanWithABrokenListOfNames(t *testing.T) {
	s := newSite(t)
	s.populate()
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		broken := strings.HasSuffix(r.URL.Path, "/configmaps") && strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
		if broken {
			http.Error(w, "out of order", http.StatusInternalServerError)
		}
		return broken
	})
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "--kind", "cm", "-o", "json")
	if result := s.scanned(got); got.code != codes.ExitPartial || len(result.Unread) != 1 || !strings.Contains(got.errOut, "ConfigMap could not be read: ") {
		t.Errorf("exit %d: %+v\n%s", got.code, result, got.errOut)
	}
}

// TestScanWithABrokenList goes on without a kind that cannot be listed for another reason than a missing right.
func TestScanWithABrokenList(t *testing.T) {
	s := newSite(t)
	s.populate()
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		broken := strings.HasSuffix(r.URL.Path, "/deployments")
		if broken {
			http.Error(w, "conversion webhook failed", http.StatusInternalServerError)
		}
		return broken
	})
	got := s.call(t.Context(), nil, "scan", "-n", s.namespace, "-o", "json")
	result := s.scanned(got)
	if got.code != codes.ExitPartial || s.lines(result.Findings) != "" || s.lines(result.Unknown) != "Unused ConfigMap asleep\nUnused ConfigMap unused" || len(result.Unread) != 1 {
		t.Errorf("exit %d: %+v\n%s", got.code, result, got.errOut)
	}
	if !strings.Contains(got.errOut, "note: Deployment could not be read: ") || strings.Contains(got.errOut, "kind: ClusterRole") {
		t.Errorf("it says:\n%s", got.errOut)
	}
}
