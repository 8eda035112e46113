// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func answer(status int, body string, header ...string) trouble {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func reset(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// hang answers when the other side has gone.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func times(n int, f trouble) []trouble {
	var faults []trouble
	for range n {
		faults = append(faults, f)
	}
	return faults
}

// A service that fails for a moment gets the message all the same, after the pause it asked for.
func TestPassingFaults(t *testing.T) {
	for name, test := range map[string]struct {
		faults []trouble
		pauses []time.Duration // at least
	}{
		"429 with Retry-After":         {[]trouble{answer(429, "", "Retry-After", "7")}, []time.Duration{7 * time.Second}},
		"429 without":                  {[]trouble{answer(429, "")}, []time.Duration{retryPause / 2}},
		"429 with seconds in the body": {[]trouble{answer(429, `{"retry_after": 3.5}`)}, []time.Duration{3500 * time.Millisecond}},
		"429 as Telegram has it":       {[]trouble{answer(429, `{"ok":false,"error_code":429,"parameters":{"retry_after":4}}`)}, []time.Duration{4 * time.Second}},
		"500 and 503":                  {[]trouble{answer(500, "no"), answer(503, "no")}, []time.Duration{retryPause / 2, retryPause}},
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				sender, clk := newTestSender(t, nil)
				server := serve(t, s, test.faults...)
				must(t, s.send(t, sender, server.URL, sample()))
				if got := len(server.got()); got != s.requests+len(test.faults) {
					t.Errorf("there were %d requests, want %d", got, s.requests+len(test.faults))
				}
				if len(clk.pauses) != len(test.pauses) {
					t.Fatalf("the pauses were %v", clk.pauses)
				}
				for i, atLeast := range test.pauses {
					if clk.pauses[i] < atLeast || clk.pauses[i] > atLeast+2*time.Second {
						t.Errorf("pause %d was %s, want at least %s", i, clk.pauses[i], atLeast)
					}
				}
			})
		})
	}
}

// What does not pass is said in words, with whether it is of use to try again.
func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		fault      trouble
		requests   int
		permanent  bool
		retryAfter time.Duration
		want       string // KEY is the service's
	}{
		"429 for long":        {answer(429, "", "Retry-After", "3600"), 1, false, time.Hour, "the service answered 429 Too Many Requests"},
		"429 always":          {answer(429, ""), attempts, false, 0, "the service answered 429 Too Many Requests"},
		"500 always":          {answer(500, "<html>"+slackToken), attempts, false, 0, "the service answered 500 Internal Server Error"},
		"401":                 {answer(401, "{}"), 1, true, 0, "the service answered 401 Unauthorized; check KEY"},
		"404":                 {answer(404, "not JSON"), 1, true, 0, "the service answered 404 Not Found; check KEY"},
		"redirect":            {answer(302, "", "Location", "http://127.0.0.1:1/elsewhere"), 1, true, 0, "the service answered 302: it redirects to another address, and redirects are not followed"},
		"reset":               {reset, 1, false, 0, "the connection to the service broke off"},
		"hang":                {hang, 1, false, 0, "the service did not answer within 200ms"},
		"half an answer":      {answer(200, `{"o`, "Content-Length", "100"), 1, false, 0, "the connection to the service broke off"},
		"a very large answer": {answer(400, strings.Repeat("x", 1<<20)), 1, true, 0, "the service answered 400 Bad Request; check KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				sender, _ := newTestSender(t, nil)
				if name == "hang" {
					sender.timeout = 200 * time.Millisecond
				}
				server := serve(t, s, times(20, test.fault)...)
				err := s.send(t, sender, server.URL, sample())
				wantError(t, err, test.permanent, test.retryAfter, strings.ReplaceAll(test.want, "KEY", s.key))
				if name != "hang" && len(server.got()) != test.requests { // a slow machine may not even get to connect
					t.Errorf("there were %d requests, want %d", len(server.got()), test.requests)
				}
			})
		})
	}
}

// TestNoWayToTheService: there was no connection that could break off.
func TestNoWayToTheService(t *testing.T) {
	t.Parallel()
	err := &url.Error{Op: "Post", URL: "https://hooks.example.com", Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}}
	wantError(t, unreachable(t.Context(), err, time.Second), false, 0, "the service cannot be reached")
}

func wantError(t *testing.T, err error, permanent bool, retryAfter time.Duration, want string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("the error is %v", err)
	}
	if failure.Permanent != permanent || failure.RetryAfter != retryAfter || !strings.Contains(failure.Reason, want) {
		t.Errorf("the error is %+v, want permanent %v, after %s: %s", *failure, permanent, retryAfter, want)
	}
	noCanary(t, err.Error())
}

// canaries are in every value of every Secret of these tests that could do harm.
func noCanary(t *testing.T, text string) {
	t.Helper()
	for _, canary := range []string{"canary", "CANARY", "112233", "1001234567", "127.0.0.1"} {
		if strings.Contains(text, canary) {
			t.Errorf("%q is in %q", canary, text)
		}
	}
}

func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, test := range map[string]struct {
		address   string
		permanent bool
		want      string
	}{
		"nobody listens": {closed.URL, false, "the service refused the connection"},
		"link-local":     {"http://169.254.169.254", true, "no notification is sent to"},
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				sender, _ := newTestSender(t, nil)
				wantError(t, s.send(t, sender, test.address, sample()), test.permanent, 0, test.want)
			})
		})
	}
}

func TestCertificates(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		server := serve(t, s)
		secure := httptest.NewUnstartedServer(server.Config.Handler)
		secure.Config.ErrorLog = server.Config.ErrorLog
		secure.StartTLS()
		t.Cleanup(secure.Close)
		server.URL = secure.URL // where the uploads go

		sender, _ := newTestSender(t, nil)
		wantError(t, s.send(t, sender, secure.URL, sample()), false, 0, "is signed by an authority that is not trusted; if it is your own, give it to the operator with --notify-ca-file")
		sender, _ = newTestSender(t, authorityOf(secure))
		must(t, s.send(t, sender, secure.URL, sample()))
		other := strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)
		wantError(t, s.send(t, sender, other, sample()), false, 0, "certificate is for another host name")
		wantError(t, s.send(t, sender, strings.Replace(server.Server.Listener.Addr().String(), "127", "https://127", 1), sample()), false, 0, "the service does not speak TLS")
	})
}

func TestRefusalsOfSlack(t *testing.T) {
	s := services()[0]
	for code, test := range map[string]struct {
		permanent bool
		want      string
	}{
		"channel_not_found":     {true, "Slack refused it (channel_not_found); check SLACK_CHANNEL_ID in Secret team-a/channel, and invite the bot"},
		"invalid_auth":          {true, "Slack refused it (invalid_auth); check SLACK_TOKEN"},
		"missing_scope":         {true, "chat:write and files:write"},
		"internal_error":        {false, "Slack answered that it failed (internal_error)"},
		"not a code, " + "x":    {true, "Slack refused it; check"},
		slackToken:              {true, "Slack refused it (******); check"},
		"":                      {false, "Slack answered that it failed"},
		strings.Repeat("x", 99): {true, "Slack refused it; check"},
	} {
		t.Run(code, func(t *testing.T) {
			sender, _ := newTestSender(t, nil)
			body, err := json.Marshal(map[string]any{"ok": false, "error": code})
			must(t, err)
			server := serve(t, s, answer(200, string(body)))
			wantError(t, s.send(t, sender, server.URL, sample()), test.permanent, 0, test.want)
		})
	}
}

func TestRefusalsOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		service int
		fault   trouble
		want    string
	}{
		"discord: a code":       {2, answer(403, `{"message":"Missing Access `+discordToken+`","code":50001}`), "403 Forbidden (50001); check DISCORD_TOKEN and DISCORD_CHANNEL_ID"},
		"telegram: chat":        {5, answer(400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`), "Telegram does not know the chat; check TELEGRAM_CHAT_ID"},
		"telegram: kicked":      {5, answer(403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked from the group chat"}`), "the bot may not write in the chat"},
		"telegram: moved":       {5, answer(400, `{"ok":false,"error_code":400,"description":"x","parameters":{"migrate_to_chat_id":-1001}}`), "the group has become a supergroup"},
		"telegram: other token": {5, answer(401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`), "401 Unauthorized; check TELEGRAM_TOKEN in"},
	} {
		t.Run(name, func(t *testing.T) {
			s := services()[test.service]
			sender, _ := newTestSender(t, nil)
			server := serve(t, s, test.fault)
			wantError(t, s.send(t, sender, server.URL, sample()), true, 0, test.want)
		})
	}
}

// Teams' connectors answer 200 also when they failed, with a text.
func TestTeamsWithoutConfirmation(t *testing.T) {
	s := services()[4]
	sender, _ := newTestSender(t, nil)
	server := serve(t, s, answer(200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413"))
	wantError(t, s.send(t, sender, server.URL, sample()), true, 0, "the service answered 200, but did not confirm the message; it is not sent again, because it may have arrived; check TEAMS_WEBHOOK_URL")
}

func TestKindsOfTeamsAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"https://example.webhook.office.com/webhookb2/a":                            {true, false},
		"https://Outlook.office.com/webhook/a":                                      {true, false},
		"https://prod-1.westus.logic.azure.com:443/workflows/a":                     {false, true},
		"https://a.b.environment.api.powerplatform.com/powerautomate/automations/a": {false, true},
		"https://logic.azure.com.example.com/a":                                     {false, false},
	} {
		address, err := url.Parse(text)
		must(t, err)
		if got := [2]bool{isConnector(address), isWorkflow(address)}; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestDiscordMayNotAttachFiles: the bot has not the right, so nothing of the message arrived. It is sent without its file.
func TestDiscordMayNotAttachFiles(t *testing.T) {
	t.Parallel()
	for _, i := range []int{2, 3} {
		s := services()[i]
		sender, _ := newTestSender(t, nil)
		server := serve(t, s, answer(403, `{"message":"Missing Permissions","code":50013}`))
		wantError(t, s.send(t, sender, server.URL, large()), true, 0, "the message was delivered, but without its file: the service answered 403 Forbidden (50013)")
		if len(server.requests) != 2 || strings.HasPrefix(server.requests[1].header.Get("Content-Type"), "multipart/") {
			t.Errorf("%s: there were %d requests", s.name, len(server.requests))
		}
	}
	s := services()[2]
	sender, _ := newTestSender(t, nil)
	server := serve(t, s, answer(403, `{"code":50001}`), answer(403, `{"code":50001}`)) // it may not write there at all
	wantError(t, s.send(t, sender, server.URL, large()), true, 0, "the service answered 403 Forbidden (50001)")
}

// A message whose file is refused has arrived: it is not sent again.
func TestFileThatIsRefused(t *testing.T) {
	for _, i := range []int{0, 5} {
		s := services()[i]
		t.Run(s.name, func(t *testing.T) {
			sender, _ := newTestSender(t, nil)
			refuse := answer(200, `{"ok":false,"error":"missing_scope"}`)
			want := "the message was delivered, but without its file: Slack refused it (missing_scope); give the bot the scopes chat:write and files:write"
			if s.kind == v1alpha1.NotificationTelegram {
				refuse, want = answer(413, `{"ok":false,"error_code":413,"description":"Request Entity Too Large"}`), "the message was delivered, but without its file: the service answered 413"
			}
			var server *loopback
			first := func(w http.ResponseWriter, r *http.Request) {
				_, text, _ := s.contract(received{path: r.URL.Path}, server.URL)
				_, _ = w.Write([]byte(text))
			}
			server = serve(t, s, first, refuse)
			wantError(t, s.send(t, sender, server.URL, large()), true, 0, want)
		})
	}
}
