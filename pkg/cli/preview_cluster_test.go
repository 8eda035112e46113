// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// startCluster starts the control plane of this package's tests when the first of them needs it. It ends with the process.
var startCluster = sync.OnceValues(func() (*testenv.Env, error) {
	return testenv.Start(context.Background(), testenv.Options{})
})

var clusterSerial atomic.Int64

// leads makes the cluster look as if an operator led it, for the whole time of the tests.
func (s *site) leads() {
	s.Helper()
	ctx := s.Context()
	created := func(o client.Object) {
		if err := s.Create(ctx, o); !apierrors.IsAlreadyExists(err) {
			must(s.T, err)
		}
	}
	created(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}})
	created(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.DefaultOperatorNamespace, Name: cluster.LeaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("operator"), RenewTime: &metav1.MicroTime{Time: time.Now()}, LeaseDurationSeconds: ptr.To(int32(36000)),
		},
	})
}

func realCluster(t *testing.T) *testenv.Env {
	t.Helper()
	env, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// site is a cluster with somebody who may do everything, and a namespace for one test.
type site struct {
	*testing.T
	client.Client
	kubeconfig string
	namespace  string
}

func newSite(t *testing.T) *site {
	t.Helper()
	env := realCluster(t)
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, v1alpha1.AddToScheme(scheme))
	c, err := client.New(env.Config, client.Options{Scheme: scheme})
	must(t, err)
	s := &site{T: t, Client: c, kubeconfig: env.Kubeconfig, namespace: fmt.Sprintf("cli-%d", clusterSerial.Add(1))}
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}))
	s.leads()
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call runs the program against the cluster.
func (s *site) call(ctx context.Context, edit func(*terminal.Options), args ...string) session {
	s.Helper()
	var out, errOut bytes.Buffer
	options := terminal.Options{Version: "v1.2.3", Scripts: sandbox.Config{Command: scriptChild}, Now: time.Now, Getenv: func(string) string { return "" }}
	if edit != nil {
		edit(&options)
	}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code := Execute(ctx, streams, options, append(args, "--kubeconfig", s.kubeconfig))
	return session{s.short(out.String()), s.short(errOut.String()), code}
}

// short leaves the kubeconfig of the test out of the commands that repeat it.
func (s *site) short(text string) string {
	return regexp.MustCompile(`(kubectl cleaner [a-z]+|kubectl config view --minify|kubectl [a-z]+|kubectl) --kubeconfig `+regexp.QuoteMeta(s.kubeconfig)).ReplaceAllString(text, "$1")
}

func (s *site) configMap(name string, labels map[string]string) {
	s.Helper()
	must(s.T, s.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: labels}}))
}

// cleaner creates a Cleaner that deletes the ConfigMaps of the namespace that are labelled as unused.
func (s *site) cleaner(edit ...func(*v1alpha1.Cleaner)) *v1alpha1.Cleaner {
	s.Helper()
	action := v1alpha1.ActionDelete
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "unused-" + s.namespace}}
	c.Spec.Schedule, c.Spec.Action = "0 3 * * *", &action
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
		Version: "v1", Kind: "ConfigMap", Namespace: s.namespace, LabelFilters: []v1alpha1.LabelFilter{{Key: "unused", Operation: v1alpha1.OperationHas}},
	}}
	for _, e := range edit {
		e(c)
	}
	must(s.T, s.Create(s.Context(), c))
	s.Cleanup(func() { _ = s.Delete(context.Background(), c) })
	return c
}

// plain replaces what differs from test to test.
func (s *site) plain(text string) string {
	text = strings.ReplaceAll(text, s.namespace, "NS")
	text = regexp.MustCompile(`(run |cleanerrun |unused-NS)-[0-9]{10}`).ReplaceAllString(text, "$1-SECONDS")
	text = strings.ReplaceAll(text, filepath.ToSlash(s.kubeconfig), "KUBECONFIG")
	return regexp.MustCompile(` {3,}`).ReplaceAllString(text, "   ") // the namespace's name makes columns wider
}

// wants compares what was printed.
func (s *site) wants(got session, code int, out, errOut string) {
	s.Helper()
	if diff := cmp.Diff(out, s.plain(got.out)); diff != "" {
		s.Errorf("standard output (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(errOut, s.plain(got.errOut)); diff != "" {
		s.Errorf("standard error (-want +got):\n%s", diff)
	}
	if got.code != code {
		s.Errorf("exit code %d, want %d", got.code, code)
	}
}

// user makes somebody who may do what the rules say, in the test's namespace, and read Cleaners.
func (s *site) user(rules ...rbacv1.PolicyRule) string {
	s.Helper()
	name := "user-" + s.namespace
	meta := metav1.ObjectMeta{Name: name}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	own := []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"cleaners"}, Verbs: []string{"get", "list"}}}
	must(s.T, s.Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: own}))
	must(s.T, s.Create(s.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}))
	meta.Namespace = s.namespace
	must(s.T, s.Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}))
	must(s.T, s.Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}))
	last := rules[len(rules)-1]
	for _, right := range []authorizationv1.ResourceAttributes{
		{Group: own[0].APIGroups[0], Resource: "cleaners", Verb: "list"},
		{Namespace: s.namespace, Group: last.APIGroups[0], Resource: last.Resources[0], Verb: last.Verbs[0]},
	} {
		s.eventually(func(ctx context.Context) (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &right}}
			err := s.Create(ctx, review)
			return review.Status.Allowed, err
		})
	}
	return name
}

func (s *site) eventually(done wait.ConditionWithContextFunc) {
	s.Helper()
	must(s.T, wait.PollUntilContextTimeout(context.WithoutCancel(s.Context()), 20*time.Millisecond, 30*time.Second, true, done))
}

func TestPreviewOfACluster(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	s.configMap("b", map[string]string{"unused": "true"})
	s.configMap("c", nil)
	c := s.cleaner()
	const table = "NAMESPACE   KIND   NAME   WOULD   WHY\n" +
		"NS   ConfigMap   a   be deleted   label unused, in namespace NS\nNS   ConfigMap   b   be deleted   label unused, in namespace NS\n"
	s.wants(s.call(t.Context(), nil, "preview", c.Name), codes.ExitDone, table,
		"2 of 2 objects match; 2 would be deleted\nhint: first set spec.blastRadiusLimit, for example {maxPercentage: 10}: 2 of 2 objects would be deleted\n")
	s.wants(s.call(t.Context(), nil, "preview", "cleaner/"+c.Name, "--fail-on-findings=2"), codes.ExitFindings, table, "2 of 2 objects match; 2 would be deleted\n")
	var maps corev1.ConfigMapList
	must(t, s.List(t.Context(), &maps, client.InNamespace(s.namespace), client.HasLabels{"unused"}))
	var after v1alpha1.Cleaner
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(c), &after))
	if len(maps.Items) != 2 || after.ResourceVersion != c.ResourceVersion {
		t.Errorf("a preview changed something: %d ConfigMaps, the Cleaner is at %s", len(maps.Items), after.ResourceVersion)
	}
	got := s.call(t.Context(), nil, "preview", c.Name, "--only", "cm/"+s.namespace+"/c")
	if text := s.plain(got.errOut); got.code != codes.ExitDone || !strings.HasPrefix(text, "note: ConfigMap NS/c does not match:\n  resourceSelectors[0]: labelFilters[0] ") {
		t.Error(text)
	}
}

// Somebody with few rights sees what he may see, and learns what he may not.
func TestPreviewForbidden(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		secrets := c.Spec.ResourcePolicySet.ResourceSelectors[0]
		secrets.Kind = "Secret"
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, secrets)
	})
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"list", "get"}})
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "--as", user, "--fail-on-findings"), codes.ExitPartial,
		"NAMESPACE   KIND   NAME   WOULD   WHY\nNS   ConfigMap   a   stay (incomplete)   label unused, in namespace NS\n",
		"1 of 1 object matches, as far as they could be read and judged; because of the rest, a run would touch nothing\n"+
			`error: cleaner "unused-NS": resourceSelectors[1]: listing Secret (/api/v1/namespaces/NS/secrets): secrets is forbidden: User "user-NS" cannot list resource "secrets" in API group "" in the namespace "NS"`+
			"\nhint: the operator may have the right; see: kubectl auth can-i --list; or preview as somebody who has it: --as USER   [E-CLU-003]\n")
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes", "--as", user), codes.ExitError, "",
		`error: asking for a run of cleaner "unused-NS": cleaners.apps.projectsveltos.io "unused-NS" is forbidden: User "user-NS" cannot patch resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope`+"\n"+
			"hint: the ClusterRole kubecleaner-cleaner-editor-role (your installation may have another name than kubecleaner) gives this right; "+
			"an administrator can give it to you: kubectl create clusterrolebinding cleaner-editor --clusterrole=kubecleaner-cleaner-editor-role --user=YOU   [E-CLU-003]\n")
}

// A Cleaner that names an account has that account's rights in a run, and the user's in a preview.
func TestPreviewOfAnAccountsCleaner(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountRef{Namespace: s.namespace, Name: "cleaner"}
	})
	s.wants(s.call(t.Context(), nil, "preview", c.Name), codes.ExitDone,
		"NAMESPACE   KIND   NAME   WOULD   WHY\nNS   ConfigMap   a   be deleted   label unused, in namespace NS\n",
		"1 of 1 object matches; 1 would be deleted\n"+
			"note: a run reads and acts as ServiceAccount NS/cleaner, this preview read with your own rights; to preview as that account: --as system:serviceaccount:NS:cleaner\n"+
			"hint: to have the operator do this now: kubectl cleaner run unused-NS\n")
	// The account may read and delete what the Cleaner selects, and read nothing of KubeCleaner: you read the Cleaner.
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cleaner"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "delete"}}}}
	must(t, s.Create(t.Context(), role))
	must(t, s.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cleaner"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: "cleaner"}},
	}))
	var got session
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, "preview", c.Name, "--as", "system:serviceaccount:"+s.namespace+":cleaner")
		return got.code == codes.ExitDone, nil
	})
	s.wants(got, codes.ExitDone, "NAMESPACE   KIND   NAME   WOULD   WHY\nNS   ConfigMap   a   be deleted   label unused, in namespace NS\n",
		"1 of 1 object matches; 1 would be deleted\nhint: to have the operator do this now: kubectl cleaner run unused-NS\n")
	// Somebody else, with other rights than yours.
	must(t, s.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "other"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: "other"}},
	}))
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, "preview", c.Name, "--as", "system:serviceaccount:"+s.namespace+":other")
		return got.code == codes.ExitDone, nil
	})
	if want := "this preview read with the rights of system:serviceaccount:NS:other; to preview"; !strings.Contains(s.plain(got.errOut), want) {
		t.Errorf("%q is missing in:\n%s", want, got.errOut)
	}
	// What the account may not read stays so, although you may.
	must(t, s.Delete(t.Context(), role))
	s.eventually(func(ctx context.Context) (bool, error) {
		got = s.call(ctx, nil, "preview", c.Name, "--as", "system:serviceaccount:"+s.namespace+":cleaner")
		return got.code == codes.ExitPartial, nil
	})
	if want := "User \"system:serviceaccount:NS:cleaner\" cannot list resource \"configmaps\""; !strings.Contains(s.plain(got.errOut), want) {
		t.Errorf("%q is missing in:\n%s", want, got.errOut)
	}
}

// The types of the conditions are checked as you too.
func TestPreviewOfAnAccountsConditions(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	condition := &v1alpha1.MatchCondition{Name: "no data", Expression: "!has(object.data)"}
	with := func(c *v1alpha1.Cleaner) {
		c.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountRef{Namespace: s.namespace, Name: "cleaner"}
		c.Spec.ResourcePolicySet.ResourceSelectors[0].MatchConditions = []v1alpha1.MatchCondition{*condition}
	}
	c := s.cleaner(with)
	got := s.call(t.Context(), nil, "preview", c.Name)
	if want := "1 of 1 object matches; 1 would be deleted\n"; got.code != codes.ExitDone || !strings.HasPrefix(got.errOut, want) {
		t.Errorf("got %d, want 0 and %q:\n%s", got.code, want, got.errOut)
	}
	must(t, s.Delete(t.Context(), c))
	condition.Expression = "object.data == 3"
	got = s.call(t.Context(), nil, "preview", s.cleaner(with).Name)
	if want := "found no matching overload for '_==_'"; got.code != codes.ExitError || !strings.Contains(got.errOut, want) {
		t.Errorf("got %d, want %d and %q:\n%s", got.code, codes.ExitError, want, got.errOut)
	}
}

func TestPreviewOfUnknownNames(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	for _, command := range []string{"preview", "run"} {
		s.wants(s.call(t.Context(), nil, command, c.Name+"x"), codes.ExitError, "",
			"error: there is no cleaner \"unused-NSx\" in the cluster\nhint: did you mean \"unused-NS\"?   [E-CLU-002]\n")
		s.wants(s.call(t.Context(), nil, command, "Some/Thing"), codes.ExitError, "",
			"error: \"Some/Thing\" cannot be the name of a Cleaner\nhint: list them with: kubectl get cleaners; for a file: kubectl cleaner preview -f FILE   [E-CLU-002]\n")
	}
}

// A Cleaner that was stored before it was edited in the cluster by hand may name a kind that is not there.
func TestPreviewOfAnUnknownKind(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "ConfigMaps" })
	s.wants(s.call(t.Context(), nil, "preview", c.Name), codes.ExitError, "",
		"error: cleaner \"unused-NS\": resourceSelectors[0]: kind ConfigMaps of v1 is not served; did you mean \"ConfigMap\"?   [E-CLU-004]\n")
}

func TestPreviewWithoutACluster(t *testing.T) {
	s := newSite(t)
	got := s.call(t.Context(), nil, "preview", "x", "--server", "https://127.0.0.1:1")
	s.wants(got, codes.ExitError, "", "error: cannot reach the API server: dial tcp 127.0.0.1:1: connect: connection refused\n"+
		"hint: kubectl config view --minify --server https://127.0.0.1:1 shows which cluster is asked   [E-CLU-001]\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := s.call(ctx, nil, "preview", "x"); got.code != codes.ExitInterrupted || !strings.HasSuffix(got.errOut, "error: interrupted\n") {
		t.Errorf("%+v", got)
	}
}

// Where the copies would be kept is the operator's matter: a preview keeps none.
func TestPreviewOfCopiesOnAVolume(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageVolume}
		c.Spec.ResourcePolicySet.ResourceSelectors[0].MatchConditions = []v1alpha1.MatchCondition{{Name: "named", Expression: "object.metadata.name == 'a'"}}
	})
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "-o", "name"), codes.ExitDone, "ConfigMap/NS/a\n", "1 of 1 object matches; 1 would be deleted\n")
}

// What the API server would refuse is not promised.
func TestPreviewAsksTheServer(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	s.configMap("b", map[string]string{"unused": "true"})
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		action := v1alpha1.ActionTransform
		c.Spec.Action, c.Spec.MergePatch = &action, &runtime.RawExtension{Raw: []byte(`{"data":{"x":true}}`)}
	})
	got := s.call(t.Context(), nil, "preview", c.Name)
	for _, want := range []string{
		"NS   ConfigMap   a   fail   the API server would refuse it: the changed object would not be valid: Invalid value: json: cannot unmarshal bool into Go struct field ConfigMap.data of type string\n",
		"NS   ConfigMap   b   fail   the API server would refuse it: the changed object would not be valid: Invalid value: json: cannot unmarshal bool into Go struct field ConfigMap.data of type string\n",
	} {
		if text := s.plain(got.out); !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	want := "2 of 2 objects match; 2 could not be changed\n" +
		"error: cleaner \"unused-NS\": 2 objects could not be changed\nhint: fix the transform; the output says why for each object   [E-PRE-004]\n"
	if text := s.plain(got.errOut); text != want || got.code != codes.ExitPartial {
		t.Errorf("exit code %d\n%s", got.code, text)
	}
	got = s.call(t.Context(), nil, "preview", c.Name, "--dry-run-all", "-o", "name")
	if text := s.plain(got.errOut); got.out != "" || !strings.HasPrefix(text, "2 of 2 objects match; 2 could not be changed\n") {
		t.Errorf("%s%s", got.out, text)
	}
}

// A dry run deletes and evicts nothing.
func TestPreviewLeavesAllAsItIs(t *testing.T) {
	s := newSite(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "default"}}
	must(t, client.IgnoreAlreadyExists(s.Create(t.Context(), account)))
	labels := map[string]string{"unused": "true"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "pod", Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
	must(t, s.Create(t.Context(), pod))
	s.configMap("map", labels)
	selected := func(c *v1alpha1.Cleaner) {
		pods := c.Spec.ResourcePolicySet.ResourceSelectors[0]
		pods.Kind = "Pod"
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, pods)
	}
	for name, edit := range map[string]func(*v1alpha1.Cleaner){
		"delete": func(*v1alpha1.Cleaner) {},
		"evict": func(c *v1alpha1.Cleaner) {
			c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PodDeletion: v1alpha1.PodDeletionEvict}
		},
		"transform": func(c *v1alpha1.Cleaner) {
			action := v1alpha1.ActionTransform
			c.Spec.Action, c.Spec.MergePatch = &action, &runtime.RawExtension{Raw: []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)}
		},
	} {
		c := s.cleaner(selected, edit, func(c *v1alpha1.Cleaner) { c.Name += "-" + name })
		for _, args := range [][]string{{}, {"--dry-run-all"}} {
			got := s.call(t.Context(), nil, append([]string{"preview", c.Name, "-o", "name"}, args...)...)
			if want := "ConfigMap/NS/map\nPod/NS/pod\n"; s.plain(got.out) != want || got.code != codes.ExitDone {
				t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.out, got.errOut)
			}
		}
		after, live := &corev1.ConfigMap{}, &corev1.Pod{}
		must(t, s.Get(t.Context(), client.ObjectKeyFromObject(pod), live))
		must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "map"}, after))
		if live.ResourceVersion != pod.ResourceVersion || live.DeletionTimestamp != nil || after.Labels["seen"] != "" {
			t.Errorf("%s: a preview changed something: %v, %v", name, live, after)
		}
	}
}

// TestPreviewInAMissingNamespace says what the run would say.
func TestPreviewInAMissingNamespace(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Namespace = s.namespace + "-misspelt"
	})
	got := s.call(t.Context(), nil, "preview", c.Name)
	if want := "note: unused-NS: resourceSelectors[0]: there is no namespace NS-misspelt: correct it, or remove the selector.\n"; got.code != codes.ExitDone || !strings.Contains(s.plain(got.errOut), want) {
		t.Errorf("exit code %d, and no %q in %s", got.code, want, s.plain(got.errOut))
	}
}

// A dry run deletes nothing, and what the account may not do is said.
func TestPreviewAsksTheServerWithFewRights(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"list", "get"}})
	s.wants(s.call(t.Context(), nil, "preview", c.Name, "--as", user, "-o", "name"), codes.ExitPartial, "",
		"1 of 1 object matches; 0 would be deleted; 1 could not be deleted: user-NS may not delete configmaps in namespace NS\n"+
			"error: cleaner \"unused-NS\": a run with these rights would fail: user-NS may not delete configmaps in namespace NS\n"+
			"hint: the rights that it needs: kubectl cleaner rbac unused-NS --service-account NAMESPACE/NAME   [E-CLU-003]\n")
	must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "a"}, &corev1.ConfigMap{}))
}
