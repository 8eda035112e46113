// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

// hostile are texts that owners of objects may write to make a message say, or do, something else.
func hostile() []string {
	texts := []string{
		"@everyone", "@here", "@channel", "<!channel>", "<!everyone>", "<!here|here>", "<!subteam^S123>", "<@U0123>", "<@!123>", "<@&123>", "<#C123>",
		"<@all>", "<@personEmail:boss@example.com|Boss>", "<at>Boss</at>", "tg://user?id=1", "<a href=\"tg://user?id=1\">x</a>", "@boss",
		"<https://evil.example.com|kubectl>", "[click](https://evil.example.com)", "![x](https://evil.example.com/x.png)", "[click]: https://evil.example.com",
		"<https://evil.example.com>", "[x](javascript:alert(1))", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b>bold", "</b></code>", "<pre>", "<!-- x -->",
		"<![CDATA[x]]>", "&lt;b&gt;", "&amp;lt;", "&#60;b&#62;", "&nbsp;", "**bold**", "*bold*", "_it_", "__u__", "~~s~~", "~s~", "||spoiler||", "`code`", "```code```",
		"`", "``", "a`b`c", "\\`", "\\", "\\\\", "\\*", "trailing\\", "# heading", "## heading", "> quote", ">>> quote", "- item", "* item", "+ item", "1. item", "---", "===", "| a | b |",
		"line\nline", "line\r\nline", "\r\nBcc: evil@example.com\r\n", "x\r\n\r\nbody", "\nSubject: x", "x\r\n.\r\nMAIL FROM:<evil@example.com>\r\n", ".", "..", "\x00", "a\x00b", "\x07", "\x08\x08\x08",
		"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b[2J", "\u009b31m", "\x7f", "\u0085", "\u2028", "\u2029", "\u202eevil", "\u2066x\u2069", "\u200bzero", "\ufeffbom", "\U000e0001tag", "\xff\xfe", "\xc3\x28", "\xed\xa0\x80",
		"=?utf-8?q?evil?=", "=?utf-8?b?ZXZpbA==?=", "{{.}}", "${x}", "$(id)", "%s%n%x", "{{DATE(2017-02-14T06:08:00Z,SHORT)}}", "';DROP TABLE x;--", "\",\"x\":\"", "}]}", "]}}]", "--boundary--",
		"=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", ":smile:", "<:x:123>", "<t:1>", "/invite @x", "🧹", "👩\u200d👩\u200d👧", "ünïcödé", "日本語", "שלום", "e\u0301\u0301\u0301",
		strings.Repeat("x", 1100), strings.Repeat("<", 1100), strings.Repeat("&", 1100), strings.Repeat("`", 1100), strings.Repeat("*", 1100), strings.Repeat("\\", 1100), strings.Repeat("🧹", 300),
		strings.Repeat("\n", 1100), strings.Repeat("@everyone ", 110), strings.Repeat("\u202e", 400), strings.Repeat("[x](y)", 200), strings.Repeat("a\r\nb", 300), strings.Repeat("\"", 1100), strings.Repeat("\u0301", 600),
	}
	return texts
}

// with is a run in which the text stands wherever a text can, also where the API server would not let it.
func with(text string) Message {
	message := sample()
	run, cleaner := message.Run, message.Cleaner
	cleaner.Name, cleaner.Status.Schedule = text, text
	run.Name, run.Spec.Cleaner, run.UID = text, text, "uid-1"
	run.Status.Message = text
	run.Status.Reason = text
	many := 12 // enough for the limits of all services
	if len(text) < 500 {
		many = 5
	}
	run.Status.Objects = run.Status.Objects[28-many : 28]
	for i := range run.Status.Objects {
		o := &run.Status.Objects[i]
		o.Message, o.Reason = text, text
		o.Name, o.Namespace, o.Kind = text, text, text
	}
	return message
}

// Whatever a text holds, a service gets a message that keeps its contract, and in it nothing but text.
func TestHostileTexts(t *testing.T) {
	if len(hostile()) < 100 {
		t.Fatalf("there are %d texts", len(hostile()))
	}
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		server := serve(t, s) // which checks the contract of each request
		for i, text := range hostile() {
			before := len(server.got())
			if err := s.send(t, sender, server.URL, with(text)); err != nil {
				t.Errorf("%.40q: %v", text, err)
				continue
			}
			for _, got := range server.got()[before:] {
				if problem := harm(s.kind, got); problem != "" {
					t.Errorf("%d, %.40q: %s", i, text, problem)
				}
			}
		}
	})
}

func TestHostileTextsInMail(t *testing.T) {
	box := &servers.Mailbox{Open: true}
	keys := startMail(t, box)
	keys["SMTP_TLS"], keys["SMTP_PASSWORD"] = "none", "" // no handshakes: it is about the text
	sender, _ := newTestSender(t, nil)
	known := []string{"Auto-Submitted", "Cc", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To"}
	for _, text := range hostile() {
		if err := sendTo(t, sender, keys, with(text)); err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
	}
	mails := box.Mails(t)
	for i, text := range hostile() {
		got := mails[i]
		if len(got.To) != 4 {
			t.Errorf("%.40q: it went to %v", text, got.To)
		}
		header, body, file := read(t, got.Text)
		for name, values := range header {
			if !slices.Contains(known, name) || len(values) != 1 || strings.ContainsAny(values[0], "\r\n") {
				t.Errorf("%.40q: there is a header %s: %q", text, name, values)
			}
		}
		if problem := unprintable(body); problem != "" || !json.Valid(file) {
			t.Errorf("%.40q: %s", text, problem)
		}
		if !strings.HasPrefix(header.Get("Subject"), "Cleaner ") || len(header.Get("Subject")) > maxTitle {
			t.Errorf("%.40q: the subject is %q", text, header.Get("Subject"))
		}
	}
}

// unprintable says what is in a text that people do not see.
func unprintable(text string) string {
	if !utf8.ValidString(text) {
		return "it is not UTF-8"
	}
	for _, r := range text {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%U is in it", r)
		}
	}
	return ""
}

var (
	boldHeading  = regexp.MustCompile(`(?m)^\*\*(By kind and namespace[^*]*|Objects|Left alone|Run|How to see more)\*\*$`)
	escapedMark  = regexp.MustCompile("\\\\[\\\\`*_~\\[\\]<>#|@&!=+-]")
	telegramTags = strings.NewReplacer("<b>", "", "</b>", "", "<code>", "", "</code>", "")
	entities     = regexp.MustCompile(`&(lt|gt|amp|#34|#39);`)
)

// harm says what in a request is more than text.
func harm(kind v1alpha1.NotificationType, got received) string {
	switch kind {
	case v1alpha1.NotificationSlack:
		form, _ := url.ParseQuery(string(got.body))
		var attachments []struct {
			Blocks []struct{ Text struct{ Type, Text string } }
		}
		if got.path != "/api/chat.postMessage" || json.Unmarshal([]byte(form.Get("attachments")), &attachments) != nil {
			return ""
		}
		for _, b := range attachments[0].Blocks {
			text := entities.ReplaceAllString(b.Text.Text, "")
			if b.Text.Type == "mrkdwn" && strings.ContainsAny(text, "<>&") {
				return "there is a link or a mention: " + b.Text.Text
			}
			if problem := unprintable(text); problem != "" {
				return problem
			}
		}
	case v1alpha1.NotificationTelegram:
		text := fieldsIn(got)["text"]
		if strings.Count(text, "<b>") != strings.Count(text, "</b>") || strings.Count(text, "<code>") != strings.Count(text, "</code>") {
			return "the tags are not closed"
		}
		if left := entities.ReplaceAllString(telegramTags.Replace(text), ""); strings.ContainsAny(left, "<>&") {
			return "there is a tag: " + text
		}
		return unprintable(text)
	case v1alpha1.NotificationWebex:
		title, text, _ := strings.Cut(fieldsIn(got)["markdown"], "\n\n")
		return markdownHarm(entities.ReplaceAllString(strings.Trim(title, "*")+"\n"+text, ""))
	case v1alpha1.NotificationDiscord:
		embed := discordPayload(got).Embeds[0]
		return markdownHarm(strings.TrimSuffix(embed.Title, "…") + "\n" + embed.Description)
	case v1alpha1.NotificationTeams:
		var message teamsMessage
		if err := json.Unmarshal(got.body, &message); err != nil {
			return err.Error()
		}
		for _, block := range message.Attachments[0].Content.Body {
			if problem := markdownHarm(block.Text); problem != "" {
				return problem
			}
		}
	case v1alpha1.NotificationWebhook:
		return unprintable(string(got.body))
	}
	return ""
}

// markdownHarm looks for formatting that is not ours, outside of code.
func markdownHarm(text string) string {
	var left strings.Builder
	inCode := false
	for rest := boldHeading.ReplaceAllString(text, ""); rest != ""; rest = rest[1:] {
		switch {
		case rest[0] == '`':
			inCode = !inCode
		case rest[0] == '\n' && inCode:
			return "code does not end on its line in " + text
		case rest[0] == '\\' && !inCode && len(rest) > 1 && strings.ContainsRune("\\`*_~[]<>#|@&!=+-", rune(rest[1])):
			rest = rest[1:]
		case !inCode:
			left.WriteByte(rest[0])
		}
	}
	if inCode || strings.ContainsAny(left.String(), "\\*_~[]<>#|@&!") {
		return "there is formatting in " + text
	}
	return unprintable(text)
}

func FuzzEscape(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := clean(text)
		if problem := unprintable(line); problem != "" || strings.Contains(line, "\n") {
			t.Errorf("clean(%q) is %q: %s", text, line, problem)
		}
		if escaped := escapeMarkdown(line); strings.ContainsAny(escapedMark.ReplaceAllString(escaped, ""), "\\`*_~[]<>#|@&!") {
			t.Errorf("Markdown %q", escaped)
		}
		if escaped := entities.ReplaceAllString(escapeHTML(line), ""); strings.ContainsAny(escaped, `<>&"'`) {
			t.Errorf("HTML %q", escaped)
		}
		if escaped := entities.ReplaceAllString(escapeSlack(line), ""); strings.ContainsAny(escaped, "<>&") {
			t.Errorf("Slack %q", escaped)
		}
		decoded, err := url.PathUnescape(escapeHeader(text))
		if err != nil || decoded != text {
			t.Errorf("header %q: %q %v", text, decoded, err)
		}
		for _, m := range []markup{plainText(), markdown(), {escape: escapeHTML}, {escape: escapeSlack}} {
			if got := m.text(text, 40); len(got) > 40*maxEscaped {
				t.Errorf("%q has %d bytes", got, len(got))
			}
		}
		if _, err := new(mime.WordDecoder).DecodeHeader(line); err == nil && strings.ContainsAny(line, "\r\n") {
			t.Errorf("%q breaks a header", line)
		}
	})
}
