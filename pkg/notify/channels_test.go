// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func signature(secret string, body []byte) string {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// eachService runs a test for every service that is reached by HTTP.
func eachService(t *testing.T, test func(t *testing.T, s service)) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// send delivers a message to a server of the service.
func (s service) send(t *testing.T, sender *Sender, address string, message Message) error {
	t.Helper()
	return sender.New(s.kind)(t.Context(), settingsOf(s.keys(address)), message)
}

// Every service takes the message, as its contract has it; what it shows is in testdata.
func TestMessages(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		server := serve(t, s)
		must(t, s.send(t, sender, server.URL, sample()))
		got := server.got()
		if len(got) != s.requests {
			t.Fatalf("there were %d requests, want %d", len(got), s.requests)
		}
		golden(t, strings.ToLower(string(s.kind))+".txt", shown(s.kind, got[0]))
	})
}

// What a service has no room for is in a file, or it is said where it is.
func TestLargeMessages(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		server := serve(t, s)
		must(t, s.send(t, sender, server.URL, large()))
		got := server.got()
		if len(got) != s.large {
			t.Fatalf("there were %d requests, want %d", len(got), s.large)
		}
		text := shown(s.kind, got[0])
		if s.kind == v1alpha1.NotificationWebhook {
			if !strings.Contains(text, `"objectsOmitted": 100`) || strings.Count(text, `"uid"`) != 900 {
				t.Errorf("the document is not whole:\n%.2000s", text)
			}
			return
		}
		where := "; the attached file has 900 objects"
		if s.kind == v1alpha1.NotificationTeams {
			where = "; the record of the run has 900 objects"
		}
		for _, want := range []string{
			"Cleaner stale-configmaps: 990 deleted, 10 being deleted", "more objects" + where,
			"ConfigMap in team-a: 960 deleted", "ConfigMap in team-b: 30 deleted, 10 being deleted", "kubectl describe cleanerrun stale-configmaps-1777604400",
		} {
			if !strings.Contains(strings.ReplaceAll(text, `\`, ""), want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
		if n := strings.Count(strings.ReplaceAll(text, `\`, ""), "ConfigMap team-a/old-"); n == 0 || n > 20 {
			t.Errorf("%d objects are listed", n)
		}
		if s.kind == v1alpha1.NotificationTeams {
			return
		}
		for _, request := range got {
			if _, file := fileIn(request); file != nil {
				var d Document
				must(t, json.Unmarshal(file, &d))
				if len(d.Objects) != 900 || d.ObjectsOmitted != 100 || d.Matched != 1000 {
					t.Errorf("the file has %d objects, %d omitted, %d matched", len(d.Objects), d.ObjectsOmitted, d.Matched)
				}
				return
			}
		}
		t.Error("there is no file")
	})
}

// shown is what people see of a request.
func shown(kind v1alpha1.NotificationType, got received) string {
	pretty := func(text []byte) string {
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return string(text)
		}
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\n`, "\n").Replace(out.String()) + "\n"
	}
	switch kind {
	case v1alpha1.NotificationSlack:
		form, _ := url.ParseQuery(string(got.body))
		return pretty([]byte(form.Get("attachments")))
	case v1alpha1.NotificationWebex:
		return fieldsIn(got)["markdown"] + "\n"
	case v1alpha1.NotificationTelegram:
		return fieldsIn(got)["text"] + "\n"
	case v1alpha1.NotificationDiscord:
		if payload := fieldsIn(got)["payload_json"]; payload != "" {
			return pretty([]byte(payload))
		}
	}
	return pretty(got.body)
}
