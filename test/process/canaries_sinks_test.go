// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

// services are the services of all channels on loopback. They keep what they get.
type services struct {
	// authority is a file with the certificate of the mail server.
	authority string
	// boxes are the mail servers of both, by the names of their channels.
	boxes map[string]*servers.Mailbox
	// notifications go to services that take everything, echoing to those that refuse everything and quote what they were sent.
	notifications, echoing []v1alpha1.Notification

	mutex sync.Mutex
	// bodies is what came, without what a service knows the sender by, by the channel and whether it was echoed.
	bodies map[string]*bytes.Buffer
	own    map[string][]string
}

func startServices(t *testing.T, n *canaries) *services {
	t.Helper()
	s := &services{bodies: map[string]*bytes.Buffer{}, own: map[string][]string{}}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(web.Close)
	secured := httptest.NewTLSServer(nil) // for its certificate
	defer secured.Close()
	s.authority = filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(s.authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw}), 0o600))
	c := newClient(t)
	s.boxes = map[string]*servers.Mailbox{
		"takes-smtp":  {TLS: "implicit"},
		"echoes-smtp": {TLS: "implicit", Refuse: map[string]servers.Refusal{"AUTH": {Code: 535, Message: "no {user} with {password}"}}},
	}
	for _, manner := range []string{"takes", "echoes"} {
		var entries []v1alpha1.Notification
		for kind, keys := range s.keys(n, web.URL+"/"+manner+"/", s.boxes[manner+"-smtp"].Start(t)) {
			name := manner + "-" + strings.ToLower(string(kind))
			keys["other"] = n.plant("another key of Secret " + name)
			for _, value := range keys {
				s.own[name] = append(s.own[name], canary.FindAllString(value, -1)...)
			}
			must(t, c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}, StringData: keys}))
			ref := &v1alpha1.NotificationRef{APIVersion: "v1", Kind: "Secret", Namespace: operatorNamespace, Name: name}
			entries = append(entries, v1alpha1.Notification{Name: name, Type: kind, NotificationRef: ref, NotifyOn: []v1alpha1.NotifyOn{v1alpha1.NotifyOnAlways}})
		}
		if manner == "echoes" {
			s.echoing = entries
			break
		}
		s.notifications = append(entries, v1alpha1.Notification{Name: "report", Type: v1alpha1.NotificationCleanerReport}, v1alpha1.Notification{Name: "event", Type: v1alpha1.NotificationEvent})
	}
	return s
}

// keys are the Secrets of all channels.
func (s *services) keys(n *canaries, address, port string) map[v1alpha1.NotificationType]map[string]string {
	return map[v1alpha1.NotificationType]map[string]string{
		v1alpha1.NotificationSlack:    {"SLACK_TOKEN": "xoxb-" + n.plant("SLACK_TOKEN"), "SLACK_CHANNEL_ID": "C1", "SLACK_API_URL": address + "slack/api"},
		v1alpha1.NotificationWebex:    {"WEBEX_TOKEN": n.plant("WEBEX_TOKEN"), "WEBEX_ROOM_ID": "room", "WEBEX_API_URL": address + "webex"},
		v1alpha1.NotificationDiscord:  {"DISCORD_TOKEN": n.plant("DISCORD_TOKEN"), "DISCORD_CHANNEL_ID": "1122", "DISCORD_API_URL": address + "discord"},
		v1alpha1.NotificationTeams:    {"TEAMS_WEBHOOK_URL": address + "teams/" + n.plant("the path of TEAMS_WEBHOOK_URL") + "?sig=" + n.plant("the query of TEAMS_WEBHOOK_URL")},
		v1alpha1.NotificationTelegram: {"TELEGRAM_TOKEN": "123456:" + n.plant("TELEGRAM_TOKEN"), "TELEGRAM_CHAT_ID": "-100", "TELEGRAM_API_URL": address + "telegram"},
		v1alpha1.NotificationWebhook: {
			"WEBHOOK_URL":    strings.Replace(address, "://", "://user:"+n.plant("the password in WEBHOOK_URL")+"@", 1) + "webhook/" + n.plant("the path of WEBHOOK_URL"),
			"WEBHOOK_SECRET": n.plant("WEBHOOK_SECRET"), "WEBHOOK_TOKEN": n.plant("WEBHOOK_TOKEN"),
		},
		v1alpha1.NotificationSMTP: {
			"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "SMTP_TLS": "implicit", "SMTP_SENDER": "a@example.com", "SMTP_RECIPIENTS": "b@example.com",
			"SMTP_IDENTITY": n.plant("SMTP_IDENTITY"), "SMTP_PASSWORD": n.plant("SMTP_PASSWORD"),
		},
	}
}

// keep keeps what a service got. In its head, that of the request, may stand what the Secret of this very channel holds.
func (s *services) keep(name, head, body string) {
	for _, own := range s.own[name] {
		head = strings.ReplaceAll(head, own, "own")
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.bodies[name] == nil {
		s.bodies[name] = &bytes.Buffer{}
	}
	fmt.Fprintf(s.bodies[name], "%s\n%s\n", head, body)
}

// serve is every service that is reached by HTTP.
func (s *services) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	part := strings.SplitN(r.URL.Path, "/", 4)
	manner, service := part[1], part[2]
	head := r.URL.String()
	for name, values := range r.Header {
		head += "\n" + name + ": " + strings.Join(values, " ")
	}
	text := string(body)
	if form, err := url.ParseQuery(text); err == nil && service == "slack" && form.Has("token") {
		form.Del("token") // so the client proves who it is
		text = form.Encode()
	}
	s.keep(manner+"-"+service, head, text)
	w.Header().Set("Content-Type", "application/json")
	if manner == "echoes" {
		w.WriteHeader(map[string]int{"slack": 200, "webhook": 500, "webex": 403}[service] + map[string]int{"discord": 400, "teams": 400, "telegram": 400}[service])
		quoted, _ := json.Marshal(head + " " + string(body))
		_, _ = fmt.Fprintf(w, `{"ok":false,"error":%[1]s,"description":%[1]s,"message":%[1]s}`, quoted)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "files.getUploadURLExternal"):
		_, _ = fmt.Fprintf(w, `{"ok":true,"upload_url":"http://%s/takes/slack/upload","file_id":"F1"}`, r.Host)
	case service == "telegram":
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":42,"date":1,"chat":{"id":-100,"type":"group"}}}`)
	case service == "teams":
		w.WriteHeader(http.StatusAccepted)
	default:
		_, _ = io.WriteString(w, `{"ok":true,"id":"1","channel":"C1","ts":"1.2","files":[{"id":"F1","title":"x"}]}`)
	}
}

func (s *services) addBodies(t *testing.T, sinks map[string]string) {
	t.Helper()
	for name, box := range s.boxes {
		for _, mail := range box.Mails(t) {
			s.keep(name, mail.User+mail.Password, string(mail.Text))
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, n := range append(s.notifications[:len(s.notifications)-2:len(s.notifications)-2], s.echoing...) { // the last two stay in the cluster
		if sinks["what "+n.Name+" got"] = ""; s.bodies[n.Name] != nil {
			sinks["what "+n.Name+" got"] = s.bodies[n.Name].String()
		}
	}
}

// echo is an admission webhook, and an S3 server, that quote all that they are sent.
type echo struct{ address string }

// startEcho starts it, and waits until the API server asks it.
func (n *canaries) startEcho(c client.Client) *echo {
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s %v</Message></Error>", r.URL, r.Header)
	}))
	n.t.Cleanup(bucket.Close)
	server := httptest.NewTLSServer(http.HandlerFunc(n.review))
	n.t.Cleanup(server.Close)
	hook := func(name, path string, selector *metav1.LabelSelector, operations ...registrationv1.OperationType) registrationv1.ValidatingWebhook {
		return registrationv1.ValidatingWebhook{
			Name: name, SideEffects: ptr.To(registrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, ObjectSelector: selector,
			ClientConfig: registrationv1.WebhookClientConfig{
				URL: ptr.To(server.URL + path), CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []registrationv1.RuleWithOperations{{Operations: operations, Rule: registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"*"}}}},
		}
	}
	config := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "canaries"}, Webhooks: []registrationv1.ValidatingWebhook{
		hook("deny.example.com", "/deny", &metav1.LabelSelector{MatchLabels: map[string]string{"use": "denied"}}, registrationv1.Update, registrationv1.Delete),
		hook("warn.example.com", "/warn", nil, registrationv1.Create, registrationv1.Update, registrationv1.Delete),
	}}
	must(n.t, c.Create(n.t.Context(), config))
	n.t.Cleanup(func() { _ = c.Delete(context.Background(), config) })
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: canaryNamespace, Name: "probe", Labels: map[string]string{"use": "denied"}}}
	must(n.t, c.Create(n.t.Context(), probe))
	eventually(n.t, "the webhook is asked", func(ctx context.Context) (bool, error) { return c.Delete(ctx, probe, client.DryRunAll) != nil, nil })
	return &echo{strings.TrimPrefix(bucket.URL, "http://")}
}

// review quotes an object in the forms in which programs do: as JSON, as YAML, as Go prints it, and its values by themselves.
func (n *canaries) review(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	must(n.t, json.NewDecoder(r.Body).Decode(&review))
	var text strings.Builder
	for _, raw := range [][]byte{review.Request.OldObject.Raw, review.Request.Object.Raw} {
		var object map[string]any
		var secret corev1.Secret
		if json.Unmarshal(raw, &object) != nil {
			continue // there is no new one when it is deleted
		}
		_ = json.Unmarshal(raw, &secret) // of what is no Secret, the metadata
		asYAML, _ := yaml.Marshal(object)
		fmt.Fprintf(&text, "%s\n%s\n%v\n%q\n%+v\n", raw, asYAML, object, object, secret)
		for _, value := range secret.Data {
			fmt.Fprintf(&text, "%s %q %v\n", value, value, value)
		}
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: r.URL.Path == "/warn", Warnings: []string{text.String()}}
	review.Response.Result = &metav1.Status{Message: text.String()}
	must(n.t, json.NewEncoder(w).Encode(review))
}

// commands are what the kubectl plugin prints.
func (n *canaries) commands(t *testing.T) map[string]string {
	t.Helper()
	sinks := map[string]string{}
	call := func(args ...string) string {
		var out bytes.Buffer
		scripts := sandbox.Config{Command: []string{filepath.Join(filepath.Dir(binary), "script-runner")}}
		options := terminal.Options{Version: "v1.2.3", Now: time.Now, Getenv: func(string) string { return "" }, Scripts: scripts}
		code := cli.Execute(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, options, append(args, "--kubeconfig", env.Kubeconfig))
		if code == codes.ExitUsage {
			t.Errorf("%v: %s", args, out.String())
		}
		sinks["kubectl cleaner "+args[0]] += fmt.Sprintf("%v\n%s\n", args, out.String())
		return out.String()
	}
	for _, name := range []string{"message", "error", "transform-message", "transform-invalid", "together", "together-error", "no-such-key-cel", "invalid-pods"} {
		call("preview", "canary-"+name)
	}
	call("preview", "canary-message", "-o", "json")
	for _, name := range []string{"delete-message", "transform-message"} {
		run, err := n.run(t.Context(), newClient(t), name)
		must(t, err)
		call("restore", run.Name, "--dry-run")
	}
	call("runs", "-o", "json")
	call("runs", "-o", "wide")
	call("notify", "test", "canary-bad-services", "--allowed-notification-hosts=127.0.0.1")
	call("notify", "test", "canary-message", "--allowed-notification-hosts=127.0.0.1")
	return sinks
}

// scrapePlain reads the metrics of a manager that serves them without TLS.
func scrapePlain(t *testing.T, address string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	must(t, err)
	body, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(body)
}
