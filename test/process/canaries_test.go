// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// minCanaries is how many values are planted at least.
const minCanaries = 200

// showAll is Lua that puts all that a Secret holds into a text: its values, and those that kubectl apply left in an annotation.
const showAll = `local text = ""
local function show(value)
  if type(value) == "table" then for _, inner in pairs(value) do show(inner) end else text = text .. " " .. tostring(value) end
end
show(obj.data)
show(obj.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"])
`

// T7: no value of a Secret, of an environment variable or of an annotation, and no token, is in anything that the operator or the
// kubectl plugin writes, whatever scripts, webhooks and services do to get it there.
func TestCanaries(t *testing.T) {
	c := newClient(t)
	n := plantCanaries(t, c)
	services := startServices(t, n)
	echoing := n.startEcho(c)
	address := freeAddress(t)
	m := startManager(t, "--leader-elect=false", "--log-level=debug", "--diagnostics-address="+address, "--insecure-diagnostics",
		"--allowed-notification-hosts=127.0.0.1", "--notify-ca-file="+services.authority, "--s3-secret="+n.bucket(c, echoing.address))
	var names []string
	for name, edit := range temptations() {
		names = append(names, name)
		n.cleaner(c, name, services.notifications, edit)
	}
	slices.Sort(names)
	n.cleaner(c, "bad-services", services.echoing, func(s *v1alpha1.CleanerSpec) { s.Action = ptr.To(v1alpha1.ActionScan) })
	for _, name := range append(names, "bad-services") {
		n.wait(c, name)
	}
	n.wantRuns(c, names)

	sinks := n.commands(t)
	sinks["the manager's log"] = m.log.tail(1 << 30)
	_, sinks["the metrics"] = scrapePlain(t, address)
	n.addObjects(c, sinks)
	services.addBodies(t, sinks)
	for _, sink := range slices.Sorted(maps.Keys(sinks)) {
		if len(sinks[sink]) == 0 {
			t.Errorf("%s is empty: nothing was looked at", sink)
		}
		for _, where := range n.find(sinks[sink]) {
			if sink == "kubectl cleaner preview" && isShown(where) {
				continue
			}
			t.Errorf("%s: there is a canary that was in %s", sink, where)
		}
	}
	if len(n.planted) < minCanaries {
		t.Errorf("there are %d canaries, want %d", len(n.planted), minCanaries)
	}
	t.Logf("%d canaries, %d sinks, %d Cleaners", len(n.planted), len(sinks), len(names)+1)
	if t.Failed() {
		n.show(sinks)
	}
}

// isShown is true for what preview shows to a user who may read it: the lines around a change. Values of Secrets are never.
func isShown(where string) bool {
	return strings.HasPrefix(where, "env of Pod") || strings.HasPrefix(where, "data of ConfigMap") || strings.HasPrefix(where, "an annotation of")
}

// of selects the objects of a kind that carry the label.
func of(kind, label string) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) {
		s.ResourcePolicySet.ResourceSelectors = append(s.ResourcePolicySet.ResourceSelectors, v1alpha1.ResourceSelector{
			Version: "v1", Kind: kind, Namespace: canaryNamespace, LabelFilters: []v1alpha1.LabelFilter{{Key: "use", Operation: v1alpha1.OperationEqual, Value: &label}},
		})
	}
}

func does(action v1alpha1.Action) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) { s.Action = &action }
}

func evaluates(script string) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) {
		s.ResourcePolicySet.ResourceSelectors[0].Evaluate = "function evaluate()\n" + script + "\nend"
	}
}

func transforms(script string) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) {
		s.Action, s.Transform = ptr.To(v1alpha1.ActionTransform), "function transform()\n"+script+"\nend"
	}
}

func aggregates(script string) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) {
		s.ResourcePolicySet.AggregatedSelection = "function evaluate()\n" + script + "\nend"
	}
}

func keepsIn(storage v1alpha1.CopyStorage) func(*v1alpha1.CleanerSpec) {
	return func(s *v1alpha1.CleanerSpec) { s.Rollback = &v1alpha1.Rollback{Storage: storage} }
}

// temptations are Cleaners that bring values to where they may be written down.
func temptations() map[string]func(*v1alpha1.CleanerSpec) {
	all := func(edits ...func(*v1alpha1.CleanerSpec)) func(*v1alpha1.CleanerSpec) {
		return func(s *v1alpha1.CleanerSpec) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	condition := func(expression string) func(*v1alpha1.CleanerSpec) {
		return func(s *v1alpha1.CleanerSpec) {
			s.ResourcePolicySet.ResourceSelectors[0].MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: expression}}
		}
	}
	both := all(of("ConfigMap", "scan"), of("Secret", "scan"))
	const anySecret = `local obj
for _, r in ipairs(resources) do if r.kind == "Secret" then obj = r end end
` + showAll
	const annotate = `obj.metadata.annotations["touched"] = "yes" `
	scan, remove := does(v1alpha1.ActionScan), does(v1alpha1.ActionDelete)
	return map[string]func(*v1alpha1.CleanerSpec){
		"message":           all(of("Secret", "scan"), scan, evaluates(showAll+`return {matching = true, message = text}`)),
		"error":             all(of("Secret", "scan"), scan, evaluates(showAll+`error(text)`)),
		"error-as-table":    all(of("Secret", "scan"), scan, evaluates(showAll+`error({message = text})`)),
		"print":             all(of("Secret", "scan"), scan, evaluates(showAll+`print(text) return {matching = true}`)),
		"no-such-key":       all(of("Secret", "scan"), scan, evaluates(`return {matching = obj[obj.data.password].x}`)),
		"no-such-key-cel":   all(of("Secret", "scan"), scan, condition(`object.data[object.data.password] == "x"`)),
		"no-duration-cel":   all(of("Secret", "scan"), scan, condition(`duration(object.data.password) > duration("1s")`)),
		"delete-message":    all(of("Secret", "delete"), remove, evaluates(showAll+`return {matching = true, message = text}`)),
		"transform-message": all(of("Secret", "change"), transforms(showAll+annotate+`return {resource = obj, message = text}`)),
		"transform-error":   all(of("Secret", "scan"), transforms(showAll+`error(text)`)),
		"transform-invalid": all(of("Secret", "scan"), transforms(`obj.data.password = obj.data.password .. "!" return {resource = obj}`)),
		"transform-type":    all(of("Secret", "scan"), transforms(`obj.type = obj.data.password return {resource = obj}`)),
		"together":          all(both, scan, aggregates(anySecret+`return {resources = {{resource = obj, message = text}}}`)),
		"together-other":    all(both, scan, aggregates(anySecret+`return {resources = {{resource = resources[1], message = text}, {resource = obj}}}`)),
		"together-error":    all(both, scan, aggregates(anySecret+`error(text)`)),
		"denied-delete":     all(of("Secret", "denied"), remove),
		"denied-transform":  all(of("Secret", "denied"), transforms(annotate+`return {resource = obj}`)),
		"copies-in-s3":      all(of("ConfigMap", "s3"), remove, keepsIn(v1alpha1.StorageS3)),
		"copies-in-report":  all(of("Secret", "report"), remove, keepsIn(v1alpha1.StorageReport)),
		"configmaps":        all(of("ConfigMap", "delete"), remove),
		"pods":              all(of("Pod", "delete"), remove),
		"denied-configmaps": all(of("ConfigMap", "denied"), remove),
		"denied-changes":    all(of("ConfigMap", "denied"), transforms(`obj.data.copy = "x" return {resource = obj}`)),
		"denied-pods":       all(of("Pod", "denied"), remove),
		"invalid-pods":      all(of("Pod", "scan"), transforms(`obj.spec.containers[1].env[1].name = "RENAMED" return {resource = obj}`)),
	}
}

// cleaner creates a Cleaner that runs at once. Without selectors it looks at ConfigMaps.
func (n *canaries) cleaner(c client.Client, name string, notifications []v1alpha1.Notification, edit func(*v1alpha1.CleanerSpec)) {
	cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "canary-" + name, Annotations: map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}}}
	cleaner.Spec.Schedule, cleaner.Spec.Notifications = "0 0 1 1 *", slices.Clone(notifications)
	edit(&cleaner.Spec)
	if len(cleaner.Spec.ResourcePolicySet.ResourceSelectors) == 0 {
		of("ConfigMap", "scan")(&cleaner.Spec)
	}
	must(n.t, c.Create(n.t.Context(), cleaner))
	n.t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
}

// wait waits until a Cleaner has run, and each of its notifications was sent or tried.
func (n *canaries) wait(c client.Client, name string) {
	n.t.Helper()
	has := func(ctx context.Context) (bool, error) {
		run, err := n.run(ctx, c, name)
		if err != nil || run == nil || !run.Status.Phase.Final() {
			return false, err
		}
		return !slices.ContainsFunc(run.Status.Notifications, func(s v1alpha1.NotificationStatus) bool { return s.Attempts == 0 }), nil
	}
	if err := wait.PollUntilContextTimeout(n.t.Context(), 100*time.Millisecond, 5*time.Minute, true, has); err != nil { // there are hundreds of deliveries
		n.t.Fatalf("waiting until canary-%s has run and sent its notifications: %v", name, err)
	}
}

func (n *canaries) run(ctx context.Context, c client.Client, name string) (*v1alpha1.CleanerRun, error) {
	var cleaner v1alpha1.Cleaner
	if err := c.Get(ctx, client.ObjectKey{Name: "canary-" + name}, &cleaner); err != nil || cleaner.Status.LastRun == nil {
		return nil, err
	}
	var run v1alpha1.CleanerRun
	err := c.Get(ctx, client.ObjectKey{Name: cleaner.Status.LastRun.Name}, &run)
	return &run, err
}

// wantRuns fails the test unless the runs were those that tempt: each matched something, or failed at it.
func (n *canaries) wantRuns(c client.Client, names []string) {
	n.t.Helper()
	for _, name := range names {
		run, err := n.run(n.t.Context(), c, name)
		must(n.t, err)
		delivered := 0
		for _, s := range run.Status.Notifications {
			if s.State == v1alpha1.NotificationDelivered {
				delivered++
			} else {
				n.t.Errorf("%s: notification %s: %s", name, s.Name, s.Message)
			}
		}
		if run.Status.Considered == 0 || delivered == 0 {
			n.t.Errorf("%s: %d notifications were delivered, and the run was to deal with objects: %s %s", name, delivered, run.Status.Reason, run.Status.Message)
		}
		n.t.Logf("%s: %s, %+v: %s", name, run.Status.Reason, run.Status.RunCounts, fmt.Sprintf("%.300s", run.Status.Message))
	}
}

// bucket is a Secret that says where copies are kept in S3: at a server that quotes what it is sent.
func (n *canaries) bucket(c client.Client, address string) string {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "canary-bucket"}, StringData: map[string]string{
		"endpoint": address, "insecure": "true", "bucket": "copies", "accessKey": n.plant("accessKey of the bucket"), "secretKey": n.plant("secretKey of the bucket"),
	}}
	must(n.t, c.Create(n.t.Context(), secret))
	return secret.Name
}
