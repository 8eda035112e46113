// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// hostile is what somebody may write into a name or a message: a window's title, colours, C1 controls, characters that turn the text
// around, a bell, a backspace, a return to the line's beginning and a separator of lines.
const hostile = "evil\x1b]0;title\x07\x1b[2J\x1b[31m\u009b1m\u202egnp\u2066\u200f\b\r\x7f\u2028end"

// unsafeIn finds what a terminal would obey, except the plugin's own colours.
func unsafeIn(text string) string {
	text = regexp.MustCompile("\x1b\\[(0|1|31|32|33)m").ReplaceAllString(text, "")
	if !utf8.ValidString(text) {
		return "bytes that are no UTF-8"
	}
	return regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]").FindString(text)
}

const hostileCleaner = `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: tidy}
spec:
  schedule: "0 3 * * *"
  action: ACTION
  transform: |
    function transform() obj.data.k = obj.data.k .. "more" return {resource=obj} end
  resourcePolicySet:
    resourceSelectors:
    - {group: "", version: v1, kind: ConfigMap, evaluate: "function evaluate() print(obj.data.k) return {matching=obj.metadata.name ~= 'other', message=obj.data.k} end"}
`

const hostileKyverno = `{apiVersion: kyverno.io/v2, kind: ClusterCleanupPolicy, metadata: {name: HOSTILE}, spec: {schedule: "@daily",
  match: {any: [{resources: {kinds: [Pod, HOSTILE], names: [HOSTILE], annotations: {HOSTILE: HOSTILE}}}]},
  conditions: {all: [{key: HOSTILE, operator: HOSTILE, value: HOSTILE}, {key: "{{ target.spec.a }}", operator: HOSTILE, value: HOSTILE}]}}}
`

const hostileJanitor = `rules: [{id: HOSTILE, resources: [pods, HOSTILE], jmespath: HOSTILE, ttl: 1h}, {id: HOSTILE, resources: [pods], jmespath: a, ttl: HOSTILE}]
`

// hostileFiles writes files for the commands that read some.
func hostileFiles(t *testing.T) string {
	dir := t.TempDir()
	quoted := strconv.QuoteToASCII(hostile)
	objectOf := func(name string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: %s, name: %s}\ndata: {k: %s}\n---\n", quoted, name, quoted)
	}
	transform := strings.Replace(hostileCleaner, "ACTION", "Transform", 1)
	for name, text := range map[string]string{
		"cleaner.yaml":           strings.Replace(hostileCleaner, "ACTION", "Scan", 1),
		"transform.yaml":         transform,
		"wrong.yaml":             strings.NewReplacer("tidy", quoted, "ACTION", quoted, "0 3 * * *", quoted[1:len(quoted)-1], "group", quoted).Replace(hostileCleaner),
		"script.yaml":            strings.Replace(hostileCleaner, "return {matching", hostile[:4]+"\u202e"+" return {matching", 1),
		"broken.yaml":            "a: " + hostile,
		"dump.yaml":              objectOf(quoted) + objectOf("a"),
		hostile + ".yaml":        "kind: " + quoted,
		"kyverno.yaml":           strings.ReplaceAll(hostileKyverno, "HOSTILE", quoted),
		"janitor.yaml":           strings.ReplaceAll(hostileJanitor, "HOSTILE", quoted),
		"test/cleaner.yaml":      transform,
		"test/matching.yaml":     objectOf("other") + objectOf(quoted),
		"test/non-matching.yaml": objectOf(quoted),
		"test/updated.yaml":      objectOf("other") + objectOf(quoted),
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// hostileServer answers as an API server whose every text is hostile.
func hostileServer(t *testing.T) (kubeconfig string) {
	type fields = map[string]any
	cleaner := func(request string) fields {
		return fields{
			"metadata": fields{"name": hostile, "uid": "u", "resourceVersion": "1", "annotations": fields{"apps.projectsveltos.io/run-requested-at": request}},
			"spec": fields{
				"schedule": hostile, "action": "Delete", "resourcePolicySet": fields{"resourceSelectors": []any{fields{"version": "v1", "kind": "ConfigMap"}}},
				"notifications": []any{
					fields{"name": hostile, "type": "CleanerReport"},
					fields{"name": hostile, "type": "Slack", "notificationRef": fields{"apiVersion": "v1", "kind": "Secret", "namespace": "a", "name": "b"}},
				},
			},
			"status": fields{"lastHandledRunRequest": request, "dryRunReason": hostile, "action": "Scan", "lastRun": fields{"name": hostile + request, "trigger": "Manual", "runRequest": request}},
		}
	}
	run := fields{
		"metadata": fields{"name": hostile, "uid": "u"},
		"spec":     fields{"cleaner": hostile, "action": hostile, "nominalTime": "2026-01-01T00:00:00Z"},
		"status": fields{
			"phase": hostile, "reason": hostile, "message": hostile, "notifications": []any{fields{"name": hostile, "type": hostile, "state": "Failed", "message": hostile}},
			"objects": []any{fields{"kind": hostile, "namespace": hostile, "name": hostile, "outcome": hostile, "reason": hostile}},
			"copies":  fields{"objects": 1, "storage": hostile, "dropped": "", "expirationTime": "2026-01-01T00:00:00Z"},
		},
	}
	var mu sync.Mutex
	request := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		var answer any
		switch path := r.URL.Path; {
		case r.Method == http.MethodPatch:
			var patch struct {
				Metadata struct{ Annotations map[string]string }
			}
			must(t, json.NewDecoder(r.Body).Decode(&patch))
			request = patch.Metadata.Annotations["apps.projectsveltos.io/run-requested-at"]
			answer = cleaner(request)
		case strings.HasSuffix(path, "/namespaces/stopped"):
			answer = fields{"kind": "Namespace", "apiVersion": "v1", "metadata": fields{"annotations": fields{"cleaner/stop": hostile}}}
		case path == "/api" || path == "/apis":
			answer = hostileDiscovery(path)
		case strings.HasSuffix(path, "/configmaps") || strings.HasSuffix(path, "/configmaps/a"):
			held := fields{"metadata": fields{"namespace": "a", "name": hostile, "uid": hostile, "resourceVersion": "1", "annotations": fields{"meta.helm.sh/release-name": hostile}}}
			answer = fields{"metadata": fields{"resourceVersion": "1"}, "items": []any{held}}
			if strings.HasSuffix(path, "/a") {
				answer = held
			}
		case strings.HasSuffix(path, "/cleaners/tidy"):
			answer = cleaner(request)
		case strings.HasSuffix(path, "/cleaners"):
			answer = fields{"items": []any{cleaner("")}}
		case strings.HasSuffix(path, "/cleanerruns"):
			answer = fields{"items": []any{run}}
		case strings.Contains(path, "/cleanerruns/evil"):
			answer = run
		case strings.HasSuffix(path, "/selfsubjectreviews"):
			answer = fields{"status": fields{"userInfo": fields{"username": hostile}}}
		case strings.Contains(path, "/cleanerruns/tidy-2"):
			planned := fields{"kind": hostile, "namespace": hostile, "name": hostile, "outcome": "Planned", "message": hostile, "change": hostile}
			answer = fields{"metadata": fields{"name": "tidy-2"}, "spec": run["spec"], "status": fields{
				"phase": "AwaitingApproval", "objects": []any{planned}, "plan": fields{"hash": hostile, "objects": 1},
			}}
		case strings.Contains(path, "/cleanerruns/tidy-1"):
			answer = fields{"metadata": fields{"name": "tidy-1"}, "spec": run["spec"], "status": run["status"]}
		default:
			w.WriteHeader(http.StatusForbidden)
			answer = fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": hostile}
		}
		must(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(kubeconfig, []byte(fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],
clusters: [{name: a, cluster: {server: %q}}]}`, server.URL)), 0o600))
	return kubeconfig
}

// hostileDiscovery serves ConfigMaps, and a kind with a hostile name.
func hostileDiscovery(root string) any {
	type fields = map[string]any
	resource := func(plural, kind string) fields {
		return fields{"resource": plural, "scope": "Namespaced", "verbs": []string{"list"}, "shortNames": []string{hostile}, "responseKind": fields{"group": "", "version": "v1", "kind": kind}}
	}
	items := []any{}
	if root == "/api" {
		resources := []any{resource("configmaps", "ConfigMap"), resource("pods", "Pod"), resource("evils", hostile)}
		items = append(items, fields{"metadata": fields{}, "versions": []any{fields{"version": "v1", "freshness": "Current", "resources": resources}}})
	}
	return fields{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}
}

// TestNothingHostileReachesTheTerminal drives texts from files and from the cluster through every command.
func TestNothingHostileReachesTheTerminal(t *testing.T) {
	dir := hostileFiles(t)
	kubeconfig := hostileServer(t)
	files := []string{
		"lint -f DIR/wrong.yaml", "lint -f DIR/wrong.yaml -o json", "lint -f DIR/script.yaml", "lint -f DIR/broken.yaml", "lint -f DIR/HOSTILE.yaml", "lint -f DIR", "lint -f HOSTILE",
		"preview -f DIR/cleaner.yaml --from DIR/dump.yaml -o table", "preview -f DIR/cleaner.yaml --from DIR/dump.yaml -o wide",
		"preview -f DIR/cleaner.yaml --from DIR/dump.yaml -o json", "preview -f DIR/cleaner.yaml --from DIR/dump.yaml -o yaml",
		"preview -f DIR/cleaner.yaml --from DIR/dump.yaml -o name", "preview -f DIR/transform.yaml --from DIR/dump.yaml",
		"preview -f DIR/transform.yaml --from DIR/dump.yaml -o yaml",
		"preview -f DIR/cleaner.yaml --from DIR/dump.yaml --only ConfigMap/HOSTILE/b", "preview -f DIR/cleaner.yaml --from DIR/HOSTILE.yaml",
		"preview -f DIR/wrong.yaml --from DIR/dump.yaml",
		"scan --from DIR/dump.yaml --complete", "scan --from DIR/dump.yaml --complete -o wide", "scan --from DIR/dump.yaml --complete -o json",
		"scan --from DIR/dump.yaml --complete -o yaml", "scan --from DIR/dump.yaml --complete -o name", "scan --from DIR/dump.yaml --complete -o csv",
		"scan --from DIR/dump.yaml --complete -o markdown", "scan --from DIR/dump.yaml --complete -o cleaner", "scan --from DIR/dump.yaml",
		"scan --from DIR/HOSTILE.yaml", "scan --from DIR/dump.yaml --kind HOSTILE", "scan --from DIR/dump.yaml --type HOSTILE", "scan --from DIR/dump.yaml -l HOSTILE",
		"scan --from DIR/dump.yaml -n HOSTILE", "scan --from DIR/dump.yaml --exclude HOSTILE/a/b/c", "scan --from DIR/dump.yaml --references DIR/HOSTILE.yaml",
		"why --from DIR/dump.yaml --complete ConfigMap/HOSTILE/a", "why --from DIR/dump.yaml HOSTILE/a", "why --from DIR/dump.yaml HOSTILE",
		"preview -f DIR/cleaner.yaml --now HOSTILE",
		"import k8s-cleaner DIR/wrong.yaml", "import kyverno DIR/kyverno.yaml", "import kube-janitor DIR/janitor.yaml", "import HOSTILE DIR",
		"init HOSTILE", "init --list HOSTILE", "init unused --name HOSTILE", "init unused --kind HOSTILE", "init unused --namespace HOSTILE",
		"init unused --namespace-selector HOSTILE", "init unused --for HOSTILE", "init unused --schedule HOSTILE",
		"test DIR/test", "test DIR/test -o json", "test DIR/test -o junit", "test HOSTILE",
		"rbac -f DIR/wrong.yaml", "rbac -f HOSTILE", "rbac -f DIR/cleaner.yaml --service-account HOSTILE", "doctor HOSTILE", "doctor -o HOSTILE", "dashboard HOSTILE", "dashboard --port HOSTILE",
		"HOSTILE", "lint --HOSTILE", "version HOSTILE", "help HOSTILE", "codes HOSTILE",
	}
	server := []string{
		"scan", "scan -o json", "scan -o csv", "scan -o markdown", "scan --kind HOSTILE", "why ConfigMap/a/a", "why ConfigMap/a/HOSTILE", "why HOSTILE/a", "__complete why ConfigMap/a/e",
		"preview tidy", "preview HOSTILE", "runs", "runs -o wide", "runs -o json", "runs -o yaml", "runs -o name", "runs HOSTILE",
		"run tidy", "run tidy --yes --wait", "run tidy --yes --wait --progress json", "run HOSTILE", "restore HOSTILE", "restore tidy-1 --only HOSTILE",
		"notify test tidy", "notify test tidy HOSTILE", "__complete run e", "__complete restore e",
		"rbac tidy --service-account a/b", "rbac HOSTILE", "__complete rbac e", "doctor", "doctor -o json --operator-namespace stopped",
		"stop", "stop --reason HOSTILE", "stop --operator-namespace stopped", "stop -n stopped -o yaml", "stop -n stopped -o json", "resume", "resume --operator-namespace stopped", "resume --operator-namespace HOSTILE",
		"suspend tidy", "suspend HOSTILE", "resume HOSTILE", "cancel HOSTILE",
		"approve tidy-2", "approve tidy-2 --yes", "approve tidy-1", "approve HOSTILE", "reject tidy-2 --yes --reason HOSTILE", "reject HOSTILE",
	}
	wantEachCommand(t, append(files, server...))
	for _, line := range append(files, server...) {
		for _, colour := range []string{"--color=never", "--color=always"} {
			t.Run(line+" "+colour, func(t *testing.T) {
				var args []string
				for arg := range strings.FieldsSeq(line) {
					args = append(args, strings.NewReplacer("DIR", dir, "HOSTILE", hostile).Replace(arg))
				}
				if strings.HasPrefix(line, "__complete") {
					args = append(args[:len(args)-1], "--kubeconfig", kubeconfig, "")
				} else if args = append(args, colour); !slices.Contains(files, line) {
					args = append(args, "--kubeconfig", kubeconfig)
				}
				var clk clock.WithTicker
				if strings.HasPrefix(line, "stop") || strings.HasPrefix(line, "cancel") { // which waits for the operator
					clk = &waits{FakeClock: clocktesting.NewFakeClock(now), meanwhile: nothing}
				}
				got := callBy(t.Context(), t, clk, "", nil, args...)
				for _, text := range []string{got.out, got.errOut} {
					if found := unsafeIn(text); found != "" {
						t.Errorf("%q reached the terminal in %q", found, text)
					}
				}
				if !strings.Contains(got.out+got.errOut, "evil") {
					t.Errorf("the text did not come to where it could do harm:\n%s%s", got.out, got.errOut)
				}
				machineReads(t, args, got.out)
			})
		}
	}
}

// wantEachCommand fails the test where no line calls a command.
func wantEachCommand(t *testing.T, lines []string) {
	t.Helper()
	streams := genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard}
	for _, cmd := range all(command(terminal.New(streams, terminal.Options{Getenv: func(string) string { return "" }}))) {
		name := strings.TrimPrefix(cmd.CommandPath(), terminal.Program+" ")
		if !slices.ContainsFunc(lines, func(line string) bool { return line == name || strings.HasPrefix(line, name+" ") }) {
			t.Errorf("nothing hostile goes through kubectl cleaner %s", name)
		}
	}
}

// TestCompletionIsAsItWas looks at the scripts for shells, in which nothing may be replaced.
func TestCompletionIsAsItWas(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell", "kubectl"} {
		got := call(t.Context(), t, "", nil, "completion", shell)
		if got.code != codes.ExitDone || unsafeIn(got.out) != "" || strings.Contains(got.out, `\u00`) {
			t.Errorf("%s: exit %d:\n%s", shell, got.code, got.out)
		}
	}
}

// machineReads looks whether what programs read is what it was.
func machineReads(t *testing.T, args []string, out string) {
	t.Helper()
	var err error
	var value any
	switch line := strings.Join(args, " "); {
	case strings.Contains(line, "-o json"):
		err = json.Unmarshal([]byte(out), &value)
	case strings.Contains(line, "-o yaml"):
		err = yaml.Unmarshal([]byte(out), &value)
	case strings.Contains(line, "-o junit"):
		var suites junit
		err = xml.Unmarshal([]byte(out), &suites)
		for _, test := range suites.Suites[0].Cases {
			value = fmt.Sprint(value, test.Name)
		}
	default:
		return
	}
	if text := fmt.Sprint(value); err != nil || !strings.Contains(text, "\u202egnp\u2066\u200f") {
		t.Errorf("%v: the text is another now: %q", err, text)
	}
}
