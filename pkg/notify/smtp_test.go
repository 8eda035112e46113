// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

func sendTo(t *testing.T, sender *Sender, keys map[string]string, message Message) error {
	t.Helper()
	return sender.New(v1alpha1.NotificationSMTP)(t.Context(), settingsOf(keys), message)
}

// A mail is sent over STARTTLS, or over TLS from the beginning, after logging in.
func TestMail(t *testing.T) {
	authority := mailAuthority(t)
	for _, name := range []string{"STARTTLS", "implicit"} {
		t.Run(name, func(t *testing.T) {
			box := &servers.Mailbox{TLS: name}
			keys := startMail(t, box)
			sender, _ := newTestSender(t, authority)
			must(t, sendTo(t, sender, keys, sample()))
			mails := box.Mails(t)
			if len(mails) != 1 {
				t.Fatalf("%d mails arrived", len(mails))
			}
			got := mails[0]
			to := []string{"canary-one@example.com", "canary-two@example.com", "canary-cc@example.com", "canary-bcc@example.com"}
			if got.User != "canary-sender@example.com" || got.From != "canary-sender@example.com" || !got.Secure || !slices.Equal(got.To, to) {
				t.Errorf("user %q, from %q, secure %v, to %v", got.User, got.From, got.Secure, got.To)
			}
			header, text, file := read(t, got.Text)
			if strings.Contains(string(got.Text), "canary-bcc") || header.Get("Message-Id") != "<0a1b2c3d-0000-4000-8000-000000000001@kubecleaner>" {
				t.Errorf("the mail shows the blind copy, or its ID is %q", header.Get("Message-Id"))
			}
			var d Document
			must(t, json.Unmarshal(file, &d))
			if len(d.Objects) != 30 {
				t.Errorf("the file has %d objects", len(d.Objects))
			}
			golden(t, "smtp.txt", "Subject: "+header.Get("Subject")+"\n\n"+text)
		})
	}
}

func TestMailWithAnIdentity(t *testing.T) {
	box := &servers.Mailbox{TLS: "STARTTLS"}
	keys := startMail(t, box)
	keys["SMTP_IDENTITY"] = "somebody"
	sender, _ := newTestSender(t, mailAuthority(t))
	must(t, sendTo(t, sender, keys, sample()))
	if user := box.Mails(t)[0].User; user != "somebody" {
		t.Errorf("the user is %q", user)
	}
}

// Without TLS nothing is sent unless the Secret says so, and never a password.
func TestMailWithoutTLS(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	box := &servers.Mailbox{Open: true}
	keys := startMail(t, box)
	delete(keys, "SMTP_PASSWORD")
	wantError(t, sendTo(t, sender, keys, sample()), true, 0, "the mail server does not offer STARTTLS; check SMTP_PORT")
	if len(box.Mails(t)) > 0 {
		t.Fatal("a mail was sent in the open")
	}
	keys["SMTP_TLS"] = "none"
	must(t, sendTo(t, sender, keys, sample()))
	if mails := box.Mails(t); len(mails) != 1 || mails[0].Secure {
		t.Fatalf("the mails are %v", mails)
	}
	keys["SMTP_PASSWORD"] = smtpPassword
	wantError(t, sendTo(t, sender, keys, sample()), true, 0, "SMTP_PASSWORD is never sent without TLS")
}

func TestMailFailures(t *testing.T) {
	authority := mailAuthority(t)
	refusal := func(at string, code int, enhanced [3]int) *servers.Mailbox {
		return &servers.Mailbox{TLS: "STARTTLS", Refuse: map[string]servers.Refusal{at: {Code: code, EnhancedCode: enhanced, Message: "no: " + smtpPassword + " canary-one@example.com"}}}
	}
	for name, test := range map[string]struct {
		box       *servers.Mailbox
		permanent bool
		want      string
	}{
		"wrong password":     {refusal("AUTH", 535, [3]int{5, 7, 8}), true, "the mail server answered 535; check SMTP_IDENTITY and SMTP_PASSWORD in Secret team-a/channel"},
		"login fails today":  {refusal("AUTH", 454, [3]int{4, 7, 0}), false, "the mail server answered 454"},
		"unknown recipient":  {refusal("RCPT", 550, [3]int{5, 1, 1}), true, "the mail server answered 550 5.1.1; check SMTP_SENDER and SMTP_RECIPIENTS"},
		"login is wanted":    {refusal("MAIL", 530, [3]int{5, 7, 0}), true, "the mail server answered 530 5.7.0; check SMTP_IDENTITY and SMTP_PASSWORD in Secret team-a/channel"},
		"greylisted":         {refusal("RCPT", 451, [3]int{4, 7, 1}), false, "the mail server answered 451 4.7.1"},
		"mail box is full":   {refusal("DATA", 452, [3]int{4, 2, 2}), false, "the mail server answered 452 4.2.2"},
		"mail is not wanted": {refusal("DATA", 554, [3]int{5, 7, 1}), true, "the mail server answered 554 5.7.1"},
	} {
		t.Run(name, func(t *testing.T) {
			sender, _ := newTestSender(t, authority)
			wantError(t, sendTo(t, sender, startMail(t, test.box), sample()), test.permanent, 0, test.want)
		})
	}
	t.Run("not trusted", func(t *testing.T) {
		sender, _ := newTestSender(t, nil)
		for _, name := range []string{"STARTTLS", "implicit"} {
			box := &servers.Mailbox{TLS: name}
			wantError(t, sendTo(t, sender, startMail(t, box), sample()), false, 0, "is signed by an authority that is not trusted")
		}
	})
	t.Run("no way to log in", func(t *testing.T) {
		sender, _ := newTestSender(t, authority)
		box := &servers.Mailbox{TLS: "STARTTLS", Open: true}
		wantError(t, sendTo(t, sender, startMail(t, box), sample()), true, 0, "the mail server offers no way to log in that is known here")
	})
}

// A server that says nothing, or goes away, is given up.
func TestMailServersThatSayNothing(t *testing.T) {
	for name, test := range map[string]struct {
		greet   func(net.Conn)
		timeout time.Duration
		want    string
	}{
		// On a busy machine the time for the whole notification may be over first: either way, it did not answer.
		"hang":                  {func(net.Conn) {}, 200 * time.Millisecond, "not answer"},
		"hang after a greeting": {func(c net.Conn) { _, _ = io.WriteString(c, "220 hello\r\n") }, 200 * time.Millisecond, "not answer"},
		"reset":                 {func(c net.Conn) { _ = c.Close() }, time.Minute, "the connection to the service broke off"},
		"something else":        {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 canary\r\n\r\n"); _ = c.Close() }, time.Minute, "the connection to the service broke off"},
		"an answer without end": {func(c net.Conn) { _, _ = io.WriteString(c, "220-"+strings.Repeat("x", 1<<20)) }, time.Minute, "the connection to the service broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					connection, err := listener.Accept()
					if err != nil {
						return
					}
					defer connection.Close()
					test.greet(connection)
				}
			}()
			t.Cleanup(func() { _ = listener.Close(); <-done })
			_, port, err := net.SplitHostPort(listener.Addr().String())
			must(t, err)
			sender, _ := newTestSender(t, nil)
			sender.timeout = test.timeout
			err = sendTo(t, sender, map[string]string{"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "SMTP_SENDER": "a@example.com", "SMTP_RECIPIENTS": "b@example.com"}, sample())
			wantError(t, err, false, 0, test.want)
		})
	}
}

// A mail that the server took is delivered, whatever comes behind: to send it again would be a second mail.
func TestMailServerThatDoesNotSayGoodbye(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	must(t, sendTo(t, sender, script(t, "220 hello", "250 hello", "250 ok", "250 ok", "250 ok", "354 go on", "250 taken"), sample()))
	err := sendTo(t, sender, script(t, "220 hello", "250 hello", "250 ok", "250 ok", "250 ok", "354 go on"), sample())
	wantError(t, err, false, 0, "the connection to the service broke off")
}

// The time for a notification ends a mail too, however long a server may take for each answer.
func TestMailWithinItsTime(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	sender.timeout = 24 * time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := sender.New(v1alpha1.NotificationSMTP)(ctx, settingsOf(silent(t)), sample())
	wantError(t, err, false, 0, "the service had not answered when the time for the notification was over")
}
