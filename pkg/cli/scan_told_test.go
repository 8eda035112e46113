// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestScanFreesLoadBalancers counts them in the sentence, in the wide table, and in CSV.
func TestScanFreesLoadBalancers(t *testing.T) {
	service := func(name string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: shop}\n" +
			"spec: {type: LoadBalancer, selector: {app: " + name + "}}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}\n---\n"
	}
	const args = "scan --from - --complete --kind svc -o "
	for manifests, want := range map[string]string{
		service("a"):                " would remove 1 object, and free 1 load balancer.\n",
		service("a") + service("b"): " would remove 2 objects, and free 2 load balancers.\n",
	} {
		got := call(t.Context(), t, manifests, nil, strings.Fields(args+"csv")...)
		if !strings.Contains(got.errOut, want) {
			t.Errorf("it says %q, want %q in it", got.errOut, want)
		}
		rows, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
		must(t, err)
		for _, row := range rows[1:] {
			if rows[0][11] != "loadBalancers" || row[11] != "1" || row[10] != "0" {
				t.Errorf("%q: %q", rows[0], row)
			}
		}
		if wide := call(t.Context(), t, manifests, nil, strings.Fields(args+"wide")...); !strings.Contains(wide.out, "   1 load balancer   ") {
			t.Errorf("it prints %s", wide.out)
		}
	}
}

// TestFindingsOfWhatIsNeverUnused are shown, and it is said that no Cleaner acts on them.
func TestFindingsOfWhatIsNeverUnused(t *testing.T) {
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: dns, namespace: shop, labels: {kubernetes.io/cluster-service: 'true'}}\n" +
		"spec: {replicas: 1}\nstatus: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}\n"
	const why = "it is a service of the cluster (label kubernetes.io/cluster-service)"
	for line, want := range map[string]string{
		"scan --kind deploy":         ": ProgressDeadlineExceeded (protected)\n",
		"scan --kind deploy -o json": `"protected": "` + why + `"`,
		"why deploy/shop/dns":        "\nA Cleaner would leave it alone: " + why + ".\n",
	} {
		got := call(t.Context(), t, manifest, nil, strings.Fields(line+" --from - --complete")...)
		if !strings.Contains(got.out, want) {
			t.Errorf("%s prints %s%s, want %s in it", line, got.out, got.errOut, want)
		}
		if strings.HasPrefix(line, "scan") && !strings.Contains(got.errOut, " None of this may be deleted (not counted: 1 protected).") {
			t.Errorf("%s says %s", line, got.errOut)
		}
	}
}

// TestLongSearchesShowProgress: whoever waits for a list learns which one it is, and how many there are.
func TestLongSearchesShowProgress(t *testing.T) {
	s := newSite(t)
	s.configMap("settings", nil)
	for _, line := range []string{"scan --kind cm", "why cm/settings"} {
		errOut := &screen{wants: "reading Pod (", shown: make(chan struct{})}
		kubeconfig := s.proxied(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				select { // the API server is slow
				case <-errOut.shown:
				case <-time.After(time.Minute): // nothing is shown
				case <-r.Context().Done():
				}
			}
			return false
		})
		options := terminal.Options{
			Version: "v1.2.3", Now: time.Now, Clock: stepping(t, 20*time.Millisecond), Getenv: func(string) string { return "" },
		}
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: errOut}
		args := append(strings.Fields(line), "-n", s.namespace, "--progress=plain", "--kubeconfig", kubeconfig)
		code := Execute(t.Context(), streams, options, args)
		shown := regexp.MustCompile(`(?m)^reading Pod \(\d+ of \d+\) · \d+ objects? · \d+/s · \d+s$`)
		if text := errOut.text.String(); code != codes.ExitDone || !shown.MatchString(text) {
			t.Errorf("%s: exit %d:\n%s", line, code, text)
		}
	}
}

// TestWhyOfWhatIsGoneSaysWhenAndWhy: by the time of the run, and by what the finding said.
func TestWhyOfWhatIsGoneSaysWhenAndWhy(t *testing.T) {
	s := newSite(t)
	old := outcomeOf(v1alpha1.OutcomeDeleted, s.namespace, "old", "")
	old.Message = "none of 31 kinds names it"
	s.recordOf(s.cleaner(), 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, Message: "Done.", RunCounts: v1alpha1.RunCounts{Acted: 1},
		Copies:  &v1alpha1.RunCopies{Storage: v1alpha1.StorageSecret, ExpirationTime: metav1.NewTime(nominal.Add(48 * time.Hour))},
		Objects: []v1alpha1.ObjectOutcome{old},
	})
	got := s.call(t.Context(), aDayLater, "why", "cm/"+s.namespace+"/old")
	want := " deleted it 24h ago, on " + nominal.UTC().Format(time.RFC3339) + ", because: none of 31 kinds names it\n"
	if got.code != codes.ExitDone || !strings.Contains(got.out, want) {
		t.Errorf("exit %d: %s%s, want %q in it", got.code, got.out, got.errOut, want)
	}
}

// TestRunOfAFinding shows what was found of each object, and that something is not known.
func TestRunOfAFinding(t *testing.T) {
	s := newSite(t)
	c := s.cleaner(func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Finding = &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}
		limit := int32(10)
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: &limit}
	})
	deleted, unknown := outcomeOf(v1alpha1.OutcomeDeleted, "x", "a", ""), outcomeOf(v1alpha1.OutcomeUnknown, "x", "b", "")
	deleted.Message = "none of 31 kinds names it"
	unknown.Message, unknown.Reason = "", "no user found in 30 of 31 kinds that can name it; not readable: Secret"
	s.answer(c, begin, end(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.", deleted, unknown))
	s.wants(s.call(t.Context(), nil, "run", c.Name, "--yes", "--wait", "--timeout", "60s"), codes.ExitPartial,
		"NAMESPACE   KIND   NAME   OUTCOME   WHY\n"+
			"x   ConfigMap   a   Deleted   none of 31 kinds names it\n"+
			"x   ConfigMap   b   Unknown   no user found in 30 of 31 kinds that can name it; not readable: Secret\n",
		asked+"run unused-NS-SECONDS ended after 1.2s: Done.\n")
}
