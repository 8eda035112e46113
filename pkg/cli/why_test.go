// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/why"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// TestWhyOfManifests asks for objects in manifests.
func TestWhyOfManifests(t *testing.T) {
	t.Chdir("testdata/scan")
	const complete = "why --from dump.yaml --complete "
	for name, line := range map[string]string{
		"used": complete + "cm/shop/used", "used-json": complete + "cm/shop/used -o json", "used-yaml": complete + "cm/shop/used -o yaml",
		"unused": complete + "configmaps/shop/unused", "idle": complete + "ConfigMap/shop/asleep", "cascading": complete + "--from cascade.yaml sc/slow",
		"nearest": complete + "cm/web/setings", "dangling": complete + "pod/web/web", "named-in-vain": complete + "cm/web/settings", "volume": complete + "pvc/shop/data",
		"partial": "why --from dump.yaml cm/shop/unused", "partial-used": "why --from dump.yaml cm/shop/used",
		"mistyped": complete + "cm/shop/usde", "kind-unknown": complete + "confgimap/shop/used", "namespace-unknown": complete + "cm/shpo/used", "namespace-missing": complete + "cm/used",
		"namespace-needless": complete + "sc/shop/fast", "no-object": complete + "cm", "two-objects": complete + "cm/a/b cm/a/c", "two-words": complete + "cm used -n shop",
		"selected": complete + "--from selected.yaml svc/shop/front", "unnamed": complete + "ns/shop", "accounts": complete + "--from selected.yaml sa/shop/front",
		"exempt": complete + "--from exempt.yaml cm/shop/dashboard", "namespace-flag": complete + "cm/used -n shop", "namespace-other": complete + "cm/shop/used -n web",
		"namespace-scope": complete + "sc/fast -n shop",
		"unserved":        "why --from unserved.yaml --complete hpa/shop/front", "unserved-json": "why --from unserved.yaml --complete hpa/shop/front -o json",
		"since":           "why --from one-namespace.yaml --complete pv/old",
		"one-namespace":   "why --from one-namespace.yaml clusterrolebinding/of-another-namespace",
		"other-namespace": "why --from one-namespace.yaml sa/web/robot", "other-namespace-json": "why --from one-namespace.yaml sa/web/robot -o json", "other-namespace-unnamed": "why --from one-namespace.yaml netpol/web/robot", "same-namespace": "why --from one-namespace.yaml sa/shop/robot", "no-class": "why --from one-namespace.yaml sc/fats",
		"undecided": "why --from undecided.yaml --complete cm/shop/flags", "used-marked": "why --from marked.yaml --complete cm/shop/settings",
		"same-kind": "why --from same-kind.yaml --complete cm/shop/settings", "same-kind-meant": "why --from same-kind.yaml --complete cluster/shop/main",
		"same-kind-grouped": "why --from same-kind.yaml --complete cluster.b.example.com/shop/main",
		"proved":            "why --from proved.yaml hpa/shop/gone",
		"declared":          complete + "--from shop.yaml --references references.yaml cm/shop/unused",
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(line)
			golden(t, "../../../golden/why-"+name+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

// TestWhyIsStopped stops a search while it reads Deployments: the users found by then are shown.
func TestWhyIsStopped(t *testing.T) {
	s := newSite(t)
	s.populate()
	got := s.call(s.stopsAtDeployments(), nil, "why", "cm/"+s.namespace+"/used")
	if got.code != codes.ExitInterrupted || !strings.Contains(s.plain(got.out), "\nNamed by:\n  Pod NS/web   spec.containers[].envFrom[].configMapRef.name\n") ||
		!strings.HasSuffix(got.errOut, "note: this is partial: the search was stopped before its end, and whatever was not read could change that\nerror: interrupted\n") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
	got = s.call(s.stopsAtDeployments(), nil, "why", "cm/"+s.namespace+"/unused", "-o", "json")
	var answer why.Result
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil || !answer.Partial || answer.Used != nil || got.code != codes.ExitInterrupted {
		t.Errorf("exit %d, %v: %s%s", got.code, err, got.out, got.errOut)
	}
}

// TestWhyOfACluster tells who uses an object, and which Cleaners may select it.
func TestWhyOfACluster(t *testing.T) {
	s := newSite(t)
	s.populate()
	must(t, s.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "labelled", Labels: map[string]string{"unused": "true"}}}))
	s.cleaner()
	got := s.call(t.Context(), nil, "why", "ConfigMap/"+s.namespace+"/labelled")
	if got.code != codes.ExitDone || !strings.HasPrefix(s.plain(got.out), "ConfigMap NS/labelled is used by nothing.\nIt is Unused (Likely): none of ") ||
		!strings.Contains(s.plain(got.out), "\nCleaners that may select it, by kind, namespace and labels; their conditions and scripts were not asked:\n  unused-NS   Delete, resourceSelectors[0]\n") ||
		s.plain(got.errOut) != "hint: whether a Cleaner would touch it: kubectl cleaner preview unused-NS --only ConfigMap/NS/labelled --kubeconfig KUBECONFIG\n" {
		t.Errorf("exit %d: %s%s", got.code, s.plain(got.out), s.plain(got.errOut))
	}
	got = s.call(t.Context(), nil, "why", "cm/"+s.namespace+"/used")
	if got.code != codes.ExitDone || !strings.HasPrefix(s.plain(got.out), "ConfigMap NS/used is used.\n\nNamed by:\n  Pod NS/web   spec.containers[].envFrom[].configMapRef.name\n") || strings.Contains(got.out, "Cleaners") {
		t.Errorf("exit %d: %s%s", got.code, s.plain(got.out), s.plain(got.errOut))
	}
	for _, args := range [][]string{{"configmap", "used", "-n", s.namespace}, {"cm", "used"}, {"cm/used"}} {
		if words := s.inContext().call(t.Context(), nil, append([]string{"why"}, args...)...); words.out != got.out {
			t.Errorf("%v: exit %d: %s%s", args, words.code, words.out, s.plain(words.errOut))
		}
	}
	s.wants(s.call(t.Context(), nil, "why", "cm/"+s.namespace+"/usedd"), codes.ExitError, "",
		"error: there is no ConfigMap NS/usedd in the cluster, and no run that is on record deleted it\nhint: did you mean \"ConfigMap/NS/used\"?   [E-WHY-001]\n")
}

// TestWhyOfTimeMarks: a Cleaner finds what has expired in every kind, and by the marks of one dialect only.
func TestWhyOfTimeMarks(t *testing.T) {
	s := newSite(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "old", Annotations: map[string]string{"cleaner/expires": "2020-01-01T00:00:00Z"}}}
	must(t, s.Create(t.Context(), quota))
	both := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "both", Annotations: map[string]string{
		"janitor/expires": "2020-01-01T00:00:00Z", "cleaner/expires": "2999-01-01T00:00:00Z",
	}}}
	must(t, s.Create(t.Context(), both))
	for kind, dialects := range map[string][]v1alpha1.MarkDialect{"ResourceQuota": nil, "ConfigMap": {v1alpha1.MarkKubeJanitor}} {
		s.cleaner(func(c *v1alpha1.Cleaner) {
			c.Name = strings.ToLower(kind) + "-" + s.namespace
			c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(1))}
			of := &c.Spec.ResourcePolicySet.ResourceSelectors[0]
			of.Kind, of.LabelFilters, of.Finding = kind, nil, &v1alpha1.FindingSelector{Type: v1alpha1.FindingExpired, Dialects: dialects}
		})
	}
	for object, want := range map[string]string{
		"quota/old": "It is Expired (Certain): it expired at 2020-01-01T00:00:00Z, by cleaner/expires",
		"cm/both":   "",
	} {
		got := s.call(t.Context(), nil, "why", object, "-n", s.namespace)
		if !strings.Contains(got.out, want) || strings.Contains(got.out, "Expired") != (want != "") || !strings.Contains(got.out, "Cleaners that may select it") {
			t.Errorf("%s: exit %d: %s%s", object, got.code, s.plain(got.out), s.plain(got.errOut))
		}
	}
}

// inContext is the site with a kubeconfig whose context has the namespace of the test.
func (s *site) inContext() *site {
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	must(s.T, err)
	config.Contexts[config.CurrentContext].Namespace = s.namespace
	path := filepath.Join(s.TempDir(), "kubeconfig")
	must(s.T, clientcmd.WriteToFile(*config, path))
	return &site{T: s.T, Client: s.Client, kubeconfig: path, namespace: s.namespace}
}

// TestWhyOfCleanersThatDoNotRun says which of them are not ready, and prints a command that works for another.
func TestWhyOfCleanersThatDoNotRun(t *testing.T) {
	s := newSite(t)
	s.configMap("old", map[string]string{"unused": "true"})
	broken := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Name = "broken-" + s.namespace
		c.Spec.ResourcePolicySet.ResourceSelectors[0].MatchConditions = []v1alpha1.MatchCondition{{Name: "a", Expression: "object.nothing("}}
	})
	broken.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidExpression, LastTransitionTime: metav1.Now(),
	}}
	must(t, s.Status().Update(t.Context(), broken))
	got := s.call(t.Context(), nil, "why", "cm/old", "-n", s.namespace)
	if s.plain(got.errOut) != "" || !strings.HasSuffix(s.plain(got.out), "\n  broken-NS   Delete, resourceSelectors[0], not ready: InvalidExpression\n") {
		t.Errorf("%s%s", s.plain(got.out), s.plain(got.errOut))
	}
	s.cleaner()
	admin := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "admin-" + s.namespace}
	must(t, s.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: admin.Name}, Subjects: []rbacv1.Subject{admin}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}))
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	must(t, err)
	for _, args := range [][]string{{}, {"--context", config.CurrentContext, "--as", admin.Name}} {
		got = s.call(t.Context(), nil, append([]string{"why", "cm/old", "-n", s.namespace}, args...)...)
		_, hint, _ := strings.Cut(got.errOut, "hint: whether a Cleaner would touch it: kubectl cleaner ")
		if want := s.plain(strings.Join(append([]string{"preview", "unused-NS", "--only", "ConfigMap/NS/old", "--kubeconfig", s.kubeconfig}, args...), " ")); strings.TrimSpace(s.plain(hint)) != want {
			t.Errorf("%v: got %swant %s", args, s.plain(got.errOut), want)
			continue
		}
		if got := s.call(t.Context(), nil, strings.Fields(hint)...); got.code != codes.ExitDone || !strings.Contains(got.out, "old") {
			t.Errorf("%s: exit %d: %s%s", hint, got.code, got.out, got.errOut)
		}
	}
}

// TestWhySince says since when an object is found so, where a Cleaner counts that.
func TestWhySince(t *testing.T) {
	s := newSite(t)
	s.configMap("old", map[string]string{"unused": "true"})
	if err := s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}}); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	wants := func(want string) {
		t.Helper()
		got := s.call(t.Context(), aDayLater, "why", "cm/old", "-n", s.namespace)
		if has := strings.Contains(got.out, "\nSince: "); got.code != codes.ExitDone || has != (want != "") || !strings.Contains(got.out, want) {
			t.Errorf("exit %d: want %q in\n%s%s", got.code, want, s.plain(got.out), s.plain(got.errOut))
		}
	}
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Finding = &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused, ForSeconds: ptr.To(int64(60))}
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(5))}
	})
	wants("")
	var old corev1.ConfigMap
	must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "old"}, &old))
	book := journal.New(s.Client, cluster.DefaultOperatorNamespace, clocktesting.NewFakePassiveClock(nominal.Time))
	counted := func(typ string, at time.Time) {
		t.Helper()
		must(t, book.SaveCounts(t.Context(), c, map[string]int64{"ConfigMap__" + string(old.UID) + "__" + typ: at.Unix()}, "run"))
	}
	t.Cleanup(func() { _ = book.DropCounts(context.Background(), c) })
	counted("Idle", nominal.Time)
	wants("")
	counted("Unused", nominal.Time)
	wants("\nIt is Unused (Likely): none of 25 kinds names it.\nSince: " + nominal.UTC().Format(time.RFC3339) + ", 24h ago, as Cleaner " + c.Name + " counted.\n")
}

// TestWhyForbidden asks as somebody who may read ConfigMaps and Pods of one namespace.
func TestWhyForbidden(t *testing.T) {
	s := newSite(t)
	s.populate()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "configmaps"}, Verbs: []string{"get", "list"}})
	why := func(name string) (result why.Result, got session) {
		got = s.call(t.Context(), nil, "why", "cm/"+s.namespace+"/"+name, "-o", "json", "--as", user)
		must(t, json.Unmarshal([]byte(got.out), &result))
		return result, got
	}
	if result, got := why("used"); got.code != codes.ExitDone || result.Used == nil || !*result.Used {
		t.Errorf("what is used is used, whatever may not be read: exit %d, %s", got.code, got.errOut)
	}
	got := s.call(t.Context(), nil, "why", "cm/"+s.namespace+"/gone", "--as", user)
	if got.code != codes.ExitPartial || !strings.Contains(got.errOut, "note: whether a run deleted it is not known") || strings.Contains(got.errOut, "no run that is on record") {
		t.Errorf("records that may not be read are not none: exit %d, %s", got.code, got.errOut)
	}
	result, got := why("unused")
	if got.code != codes.ExitPartial || result.Used != nil || len(result.NotReadable) < 5 || !strings.Contains(got.errOut, "hint: you need more rights") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}

// TestWhyOfAnUnknownVerdict: what is used by nothing may be of use all the same, when what it is for could not be read.
func TestWhyOfAnUnknownVerdict(t *testing.T) {
	s := newSite(t)
	s.populate()
	target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "gone"}
	must(t, s.Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "front"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 3},
	}))
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{"autoscaling"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	got := s.call(t.Context(), nil, "why", "hpa/front", "-n", s.namespace, "--as", user)
	if out := s.plain(got.out); got.code != codes.ExitPartial || !strings.HasPrefix(out, "HorizontalPodAutoscaler NS/front: it is not known whether it is used.\nIt may be Unused: ") ||
		!strings.Contains(out, "\nNot readable, because you are not allowed to read them: the references declared in ConfigMap projectsveltos/kubecleaner-references, Deployment.\n") ||
		!strings.HasSuffix(s.plain(got.errOut), "error: 1 kind and the references declared in ConfigMap projectsveltos/kubecleaner-references could not be read: Deployment\nhint: you need the right to list deployments.apps, and to read the references declared in ConfigMap projectsveltos/kubecleaner-references; this prints the Role for that: "+
			s.plain("kubectl cleaner scan -n NS --kubeconfig "+s.kubeconfig+" --as "+user+" -o role")+"   [E-SCN-001]\n") {
		t.Errorf("exit %d:\n%s%s", got.code, out, got.errOut)
	}
	got = s.call(t.Context(), nil, "why", "hpa/front", "-n", s.namespace)
	if out := s.plain(got.out); got.code != codes.ExitDone || !strings.Contains(out, "\nIt is Unused (Certain): ") {
		t.Errorf("with all rights, exit %d:\n%s%s", got.code, out, got.errOut)
	}
}

// TestWhyOfWhatIsGone names the run that deleted an object, also where the record of the run has no room for it.
func TestWhyOfWhatIsGone(t *testing.T) {
	s := newSite(t)
	run, outcomes := s.large()
	for _, outcome := range []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating} {
		var deleted *v1alpha1.ObjectOutcome
		for _, o := range outcomes {
			if o.Outcome == outcome && (deleted == nil || o.Name > deleted.Name) {
				deleted = &o
			}
		}
		s.namesRun(run, deleted)
	}
}

// TestWhyOfWhatWasFoundGone: a run that was cut off may have deleted it, or somebody else. Of Events and the like, a run
// keeps no copy.
func TestWhyOfWhatWasFoundGone(t *testing.T) {
	s := newSite(t)
	lost := outcomeOf(v1alpha1.OutcomeFoundGone, s.namespace, "lost", "")
	job := outcomeOf(v1alpha1.OutcomeDeleted, s.namespace, "done", "")
	job.APIVersion, job.Kind = "batch/v1", "Job"
	run := s.recordOf(s.cleaner(), 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, Message: "Done.", RunCounts: v1alpha1.RunCounts{Acted: 2},
		Copies: &v1alpha1.RunCopies{Storage: v1alpha1.StorageSecret, ExpirationTime: metav1.NewTime(nominal.Add(time.Hour))}, Objects: []v1alpha1.ObjectOutcome{lost, job},
	})
	for name, want := range map[string][2]string{
		"cm/" + s.namespace + "/lost":  {" may have deleted it ", "to restore it (until "},
		"job/" + s.namespace + "/done": {" deleted it ", "to restore it, if the run kept a copy of it (until "},
	} {
		got := s.call(t.Context(), nil, "why", name)
		if got.code != codes.ExitDone || !strings.Contains(got.out, "run "+run.Name+" of Cleaner "+run.Spec.Cleaner+want[0]) || !strings.Contains(got.errOut, want[1]) {
			t.Errorf("%s: exit %d: %s%s", name, got.code, got.out, got.errOut)
		}
	}
}

// namesRun fails unless why says that the run deleted the object.
func (s *site) namesRun(run *v1alpha1.CleanerRun, deleted *v1alpha1.ObjectOutcome) {
	t := s.T
	if deleted == nil {
		t.Fatal("the run deleted nothing")
	}
	if err := s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: deleted.Namespace}}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	got := s.call(t.Context(), nil, "why", fmt.Sprintf("deploy/%s/%s", deleted.Namespace, deleted.Name))
	want := fmt.Sprintf("Deployment %s/%s is gone: run %s of Cleaner %s deleted it ", deleted.Namespace, deleted.Name, run.Name, run.Spec.Cleaner)
	if got.code != codes.ExitDone || !strings.HasPrefix(got.out, want) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
	if !strings.Contains(got.errOut, "kubectl cleaner restore "+run.Name+" --only Deployment/") && !strings.Contains(got.errOut, "keeps no copy") {
		t.Errorf("it says: %s", got.errOut)
	}
}

// TestWhyCompletes completes the kind, the namespace and the name.
func TestWhyCompletes(t *testing.T) {
	s := newSite(t)
	s.configMap("settings", nil)
	for begun, want := range map[string]string{"Conf": "ConfigMap/\n", "cm/": "cm/" + s.namespace + "/\n", "cm/" + s.namespace + "/": "cm/" + s.namespace + "/settings\n", "Foo/": ":4\n"} {
		got := s.complete("why", begun)
		if !strings.Contains(got, want) {
			t.Errorf("%q is completed to\n%s", begun, got)
		}
	}
	for words, want := range map[string]string{
		"cm -n " + s.namespace: "settings\n", "ns": s.namespace + "\n", "foo": ":4\n", "cm/a": ":4\n", "cm a": ":4\n",
	} {
		args := slices.Concat([]string{"__complete", "why", "--kubeconfig", s.kubeconfig}, strings.Fields(words), []string{""})
		if got := call(t.Context(), t, "", nil, args...).out; !strings.Contains("\n"+got, "\n"+want) {
			t.Errorf("what follows %q is completed to\n%s", words, got)
		}
	}
}

// complete is what the shell is told.
func (s *site) complete(command, begun string) string {
	s.Helper()
	return call(s.Context(), s.T, "", nil, "__complete", command, "--kubeconfig", s.kubeconfig, begun).out
}
