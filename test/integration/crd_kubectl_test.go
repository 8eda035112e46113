// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// kubectl runs the control plane's kubectl. A warning fails the test as an error does.
func kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	args = append([]string{"--kubeconfig", env.Kubeconfig, "--cache-dir", t.TempDir()}, args...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(env.Assets, "kubectl"), args...)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &complaint
	out, err := cmd.Output()
	if err != nil || complaint.Len() > 0 {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out)
}

// TestPublishedSample applies a sample of k8s-cleaner's repository as it stands: six fields, and the action inside the policy set. It
// deletes every Secret of a namespace, at every second of an hour.
func TestPublishedSample(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile(filepath.Join("testdata", "cleaner_v023.yaml"))
	must(t, err)
	b := newBench(t)
	must(t, ignoreExists(b.user.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "test"}})))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "old"}}
	must(t, b.user.Create(t.Context(), secret))
	kubectl(t, string(sample), "apply", "-f", "-")
	l := b.follow(b.get("cleaner-sample"))
	t.Cleanup(func() { // its name is not the test's own, and nothing collects garbage here
		for _, o := range []client.Object{l.now, secret, &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: l.now.Status.LastRun.Name}}} {
			_ = b.user.Delete(context.Background(), o)
		}
	})
	l.step()
	if status := l.now.Status; status.Schedule != "every second from 01:00:00 to 01:59:59 UTC" || status.Action != v1alpha1.ActionDelete {
		t.Fatalf("the status is %+v", status)
	}
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled,
		"fires 3600 times in an hour", "because second is * and minute is *", `if that is not meant, write "0 0 1 * * *"`)
	l.startExecutor()
	l.at(l.now.Status.NextScheduleTime.Time)
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted.")
	if err := b.user.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); client.IgnoreNotFound(err) != nil || err == nil {
		t.Fatalf("the Secret is still there (%v)", err)
	}
}

// TestKubectlGet is the dashboard: what a user sees without asking for more.
func TestKubectlGet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("used")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	l.ask("now")
	l.step()
	l.finish()
	record := l.records()[0].Name

	name, next := regexp.QuoteMeta(l.now.Name), l.first().Format(time.RFC3339)
	age := `\d+s`
	wantTable(t, kubectl(t, "", "get", "cleaners", l.now.Name),
		"NAME SCHEDULE ACTION READY REASON RESULT MATCHED ACTED LAST RUN NEXT RUN AGE",
		name, `0 3 \* \* \*`, "Delete", "True", "Scheduled", "Completed", "1", "1", age, next, age)
	wantTable(t, kubectl(t, "", "get", "cln", l.now.Name, "-o", "wide"),
		"NAME SCHEDULE ACTION READY REASON RESULT MATCHED ACTED LAST RUN NEXT RUN AGE SCAN UNTIL",
		name, `0 3 \* \* \*`, "Delete", "True", "Scheduled", "Completed", "1", "1", age, next, age, "")
	wantTable(t, kubectl(t, "", "get", "clr", record),
		"NAME CLEANER ACTION PHASE REASON CONSIDERED MATCHED ACTED SKIPPED FAILED COPIES AGE",
		record, name, "Delete", "Completed", "Completed", "2", "1", "1", "0", "0", "1", age)
	wantTable(t, kubectl(t, "", "get", "clr", record, "-o", "wide"),
		"NAME CLEANER ACTION PHASE REASON CONSIDERED MATCHED ACTED SKIPPED FAILED COPIES AGE PROGRESS DONE TOTAL TRIGGER DURATION MESSAGE",
		record, name, "Delete", "Completed", "Completed", "2", "1", "1", "0", "0", "1", age, "", "", "", "Manual", `\S+s`, `1 of 2 objects matched; 1 deleted\.`)
	wantTable(t, kubectl(t, "", "get", "clrep", l.now.Name), "NAME ACTION MESSAGE AGE", name, "Delete", "", age)

	all := kubectl(t, "", "get", "kubecleaner", "-o", "name") // the category has all three kinds
	for _, want := range []string{"cleaner.apps.projectsveltos.io/" + l.now.Name, "cleanerrun.apps.projectsveltos.io/" + record, "report.apps.projectsveltos.io/" + l.now.Name} {
		if !strings.Contains(all, want+"\n") {
			t.Errorf("kubectl get kubecleaner does not list %s:\n%s", want, all)
		}
	}
}

// TestKubectlGetFits: the table of a Cleaner with long values, of which none is a sentence, fits a wide terminal; and one that does not run
// says why.
func TestKubectlGetFits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionTransform, evaluate("function evaluate() error(\"no\") end"), func(c *v1alpha1.Cleaner) {
		c.Name = fmt.Sprintf("pause-deployments-of-previews-night-%02d", serial.Add(1))
		c.Spec.Schedule, c.Spec.TimeZone, c.Spec.Transform = "30 20 * * MON-FRI", ptr.To("America/Sao_Paulo"), "function transform() return {} end"
		c.Spec.ScanUntil = ptr.To(metav1.NewTime(time.Date(2099, time.December, 1, 0, 0, 0, 0, time.UTC)))
	}))
	b.configMap("old")
	l.startExecutor()
	l.ask("now")
	l.step()
	l.finish()
	wide := kubectl(t, "", "get", "cleaner", l.now.Name, "-o", "wide")
	if !strings.Contains(wide, " SCAN UNTIL") || !strings.Contains(wide, " 2099-12-01T00:00:00Z") {
		t.Errorf("the table does not say until when it only reports:\n%s", wide)
	}
	for line := range strings.Lines(wide) {
		if len(strings.TrimRight(line, " \n")) > 200 {
			t.Errorf("this line has %d characters, and 200 are to be enough: %s", len(line), line)
		}
	}
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Schedule = "at night" })
	l.step()
	if got := kubectl(t, "", "get", "cleaner", l.now.Name); !strings.Contains(got, " False   InvalidSchedule ") {
		t.Errorf("the reason is not shown without -o wide:\n%s", got)
	}
}

// TestFieldSelectors: runs are found by their Cleaner, their request, their phase and their reason.
func TestFieldSelectors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	other := b.follow(b.cleaner(v1alpha1.ActionScan, evaluate("function evaluate() error(\"no\") end")))
	l.startExecutor()
	for _, of := range []*life{other, l} {
		of.ask("by " + of.now.Name)
		of.step()
		of.finish()
	}
	done, failed := "cleanerrun.apps.projectsveltos.io/"+l.now.Status.LastRun.Name+"\n", "cleanerrun.apps.projectsveltos.io/"+other.now.Status.LastRun.Name+"\n"
	for selector, want := range map[string]string{
		"spec.cleaner=" + l.now.Name:                                                done,
		"spec.cleaner=" + other.now.Name:                                            failed,
		"spec.runRequest=by " + l.now.Name:                                          done,
		"spec.cleaner=" + l.now.Name + ",status.phase=Completed":                    done,
		"spec.cleaner=" + l.now.Name + ",status.phase!=Completed":                   "",
		"spec.cleaner=" + other.now.Name + ",status.phase=Failed":                   failed,
		"spec.cleaner=" + other.now.Name + ",status.reason=ViewIncomplete":          failed,
		"spec.cleaner=" + l.now.Name + ",status.reason=ViewIncomplete":              "",
		"status.reason=Completed,status.phase=Completed,spec.cleaner=" + l.now.Name: done,
	} {
		if got := kubectl(t, "", "get", "cleanerruns", "-o", "name", "--field-selector", selector); got != want {
			t.Errorf("--field-selector %s finds %q, want %q", selector, got, want)
		}
	}
}

// TestKubectlWait: a program can wait for the end of a run, and ask whether it did anything.
func TestKubectlWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	for n, want := range []string{"True ObjectsActedOn", "False NothingMatched"} {
		l.ask(fmt.Sprint(n))
		l.at(l.first().Add(time.Duration(n-10) * time.Minute))
		l.finish()
		run := "cleanerrun/" + l.now.Status.LastRun.Name
		kubectl(t, "", "wait", "--for=condition=Completed", "--timeout=10s", run)
		acted := `{.status.conditions[?(@.type=="Acted")].status} {.status.conditions[?(@.type=="Acted")].reason}`
		if got := kubectl(t, "", "get", run, "-o", "jsonpath="+acted); got != want {
			t.Errorf("Acted of run %d is %s, want %s", n, got, want)
		}
	}
}

// wantTable compares a table's head, and its one line cell by cell with regular expressions.
func wantTable(t *testing.T, table, head string, cells ...string) {
	t.Helper()
	top, line, _ := strings.Cut(table, "\n")
	if got := strings.Join(strings.Fields(top), " "); got != head {
		t.Errorf("the columns are %q, want %q", got, head)
	}
	pattern := `^` + strings.Join(cells, ` +`) + `\s*$`
	if !regexp.MustCompile(pattern).MatchString(line) {
		t.Errorf("the line is %q, want %s", line, pattern)
	}
}

func TestKubectlExplain(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"cleaner.spec.schedule": "schedule says when the Cleaner runs, in cron syntax",
		"cleaner.spec.resourcePolicySet.resourceSelectors.evaluate":  "evaluate is a Lua script",
		"cleaner.status.lastRun.matches":                             "matches are the first 50 objects that matched",
		"cleanerrun.status.phase":                                    "phase is how far the run has come",
		"report.spec.resourceInfo":                                   "resourceInfo are the objects",
		"cleaner.metadata":                                           "Standard object's metadata",
		"cleaner.spec.resourcePolicySet.resourceSelectors.namespace": "Empty, without a namespaceSelector, means all namespaces",
	} {
		if got := kubectl(t, "", "explain", field); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("kubectl explain %s does not say %q:\n%s", field, want, got)
		}
	}
}
