// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// The title says what is true of the run: "deleted" of nothing that was not.
func TestTitles(t *testing.T) {
	objects := func(outcomes ...v1alpha1.OutcomeResult) (all []v1alpha1.ObjectOutcome) {
		for _, o := range outcomes {
			all = append(all, v1alpha1.ObjectOutcome{Kind: "Pod", Namespace: "a", Name: "b", Outcome: o})
		}
		return all
	}
	for name, test := range map[string]struct {
		action  v1alpha1.Action
		dryRun  bool
		phase   v1alpha1.RunPhase
		reason  string
		counts  v1alpha1.RunCounts
		objects []v1alpha1.ObjectOutcome
		omitted int64
		tallies []v1alpha1.ObjectTally
		want    string
	}{
		"scan":         {action: v1alpha1.ActionScan, counts: v1alpha1.RunCounts{Matched: 2}, objects: objects("Matched", "Matched"), want: "2 matched"},
		"deleted":      {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 1, Acted: 1}, objects: objects("Deleted"), want: "1 deleted"},
		"terminating":  {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 1, Acted: 1}, objects: objects("Terminating"), want: "1 being deleted"},
		"gone":         {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 1, Acted: 1}, objects: objects("Gone"), want: "1 gone already"},
		"denied":       {action: v1alpha1.ActionDelete, phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonPartiallyFailed, counts: v1alpha1.RunCounts{Matched: 1, Failed: 1}, objects: objects("Denied"), want: "nothing deleted, 1 failed (partly failed)"},
		"dry run":      {action: v1alpha1.ActionScan, dryRun: true, counts: v1alpha1.RunCounts{Matched: 2}, objects: objects("DryRun", "DryRun"), want: "2 would be deleted, nothing touched (dry run)"},
		"limit":        {action: v1alpha1.ActionDelete, phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonLimitExceeded, counts: v1alpha1.RunCounts{Matched: 2, Skipped: 2}, objects: objects("NotActed", "NotActed"), want: "nothing deleted, 2 left alone (limit exceeded)"},
		"incomplete":   {action: v1alpha1.ActionDelete, phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonViewIncomplete, counts: v1alpha1.RunCounts{Failed: 1}, objects: objects("NotEvaluated"), want: "nothing deleted, 1 not judged (not everything could be read)"},
		"transform":    {action: v1alpha1.ActionTransform, counts: v1alpha1.RunCounts{Matched: 3, Acted: 1, Skipped: 2}, objects: objects("Transformed", "Unchanged", "Gone"), want: "1 changed, 2 left alone"},
		"many":         {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 900, Acted: 900}, objects: objects("Deleted"), omitted: 899, want: "900 acted on"},
		"all counted":  {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 900, Acted: 900}, objects: objects("Deleted"), omitted: 899, tallies: []v1alpha1.ObjectTally{{Outcome: "Deleted", Count: 890}, {Outcome: "Terminating", Count: 10}}, want: "890 deleted, 10 being deleted"},
		"not all":      {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 900, Acted: 900}, objects: objects("Deleted"), omitted: 899, tallies: []v1alpha1.ObjectTally{{Outcome: "Deleted", Count: 890}}, want: "900 acted on"},
		"taken over":   {action: v1alpha1.ActionDelete, counts: v1alpha1.RunCounts{Matched: 2, Acted: 2}, objects: objects("FoundGone", "FoundGone"), want: "2 found gone after the run was cut off"},
		"interrupted":  {action: v1alpha1.ActionDelete, phase: v1alpha1.RunInterrupted, counts: v1alpha1.RunCounts{Matched: 2, Acted: 1, Skipped: 1}, objects: objects("Deleted", "Interrupted"), want: "1 deleted, 1 left alone (stopped)"},
		"not ended":    {action: v1alpha1.ActionDelete, phase: v1alpha1.RunExecuting, objects: objects("Planned"), want: "of 1 it is not known whether they were deleted (not ended)"},
		"a bad reason": {action: v1alpha1.ActionDelete, phase: v1alpha1.RunFailed, reason: "x\r\ny", want: "nothing deleted (failed)"},
	} {
		t.Run(name, func(t *testing.T) {
			message := sample()
			run := message.Run
			run.Spec.Action, run.Spec.DryRun = test.action, test.dryRun
			run.Status = v1alpha1.CleanerRunStatus{Phase: test.phase, Reason: test.reason, RunCounts: test.counts, Objects: test.objects, ObjectsOmitted: test.omitted, Tallies: test.tallies}
			if run.Status.Phase == "" {
				run.Status.Phase = v1alpha1.RunCompleted
			}
			r := newReport(message, strings.TrimSpace)
			if want := "Cleaner stale-configmaps: " + test.want; r.title != want {
				t.Errorf("the title is %q, want %q", r.title, want)
			}
			text := plainText().join(plainText().render(r, true, maxMail, plainText().length).sections)
			if name != "deleted" && name != "interrupted" && strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, "being deleted", ""), "not deleted", ""), "deleted") && test.omitted == 0 {
				t.Errorf("it says deleted:\n%s", text)
			}
		})
	}
}

// A message says what was left alone also where the record has no room for it, and that not all places are counted.
func TestLeftAloneBeyondTheRecord(t *testing.T) {
	message := sample()
	message.Run.Status = v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, RunCounts: v1alpha1.RunCounts{Matched: 900, Skipped: 30}, ObjectsOmitted: 898,
		Objects: []v1alpha1.ObjectOutcome{{Kind: "Pod", Namespace: "a", Name: "b", Outcome: "Matched"}, {Kind: "Pod", Namespace: "a", Name: "c", Outcome: "Protected", Reason: "it says so"}},
		Tallies: []v1alpha1.ObjectTally{{Kind: "Pod", Namespace: "z", Outcome: "Protected", Count: 30}},
	}
	for i := range 12 {
		message.Run.Status.Tallies = append(message.Run.Status.Tallies, v1alpha1.ObjectTally{Kind: "Pod", Namespace: string(rune('a' + i)), Outcome: "Matched", Count: 10})
	}
	r := newReport(message, strings.TrimSpace)
	text := plainText().join(plainText().render(r, true, maxMail, plainText().length).sections)
	for _, want := range []string{
		"1 protected: it says so (Pod a/c)", "29 protected, which the record does not list", "Left alone, of 150 of 900 objects",
		"By kind and namespace, of 150 of 900 objects", "and more kinds and namespaces",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Every outcome has words of its own.
func TestEveryOutcomeHasWords(t *testing.T) {
	run := sample().Run
	for _, outcome := range []v1alpha1.OutcomeResult{
		v1alpha1.OutcomePlanned, v1alpha1.OutcomeMatched, v1alpha1.OutcomeDeleted, v1alpha1.OutcomeFoundGone, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed, v1alpha1.OutcomeUnchanged,
		v1alpha1.OutcomeGone, v1alpha1.OutcomeReplaced, v1alpha1.OutcomeChanged, v1alpha1.OutcomeConflict, v1alpha1.OutcomeProtected, v1alpha1.OutcomeDryRun, v1alpha1.OutcomeDenied,
		v1alpha1.OutcomeKindGone, v1alpha1.OutcomeAbandoned, v1alpha1.OutcomeNotActed, v1alpha1.OutcomeInterrupted, v1alpha1.OutcomeNotEvaluated, v1alpha1.OutcomeUnknown, v1alpha1.OutcomeFailed,
	} {
		text := word(run, outcome)
		if text == string(outcome) || strings.HasPrefix(text, "deleted") != (outcome == v1alpha1.OutcomeDeleted) {
			t.Errorf("%s is %q", outcome, text)
		}
	}
}

// A Secret is checked at once, and what is wrong with it is said without what it holds.
func TestSettings(t *testing.T) {
	for name, test := range map[string]struct {
		kind v1alpha1.NotificationType
		keys map[string]string
		want string
	}{
		"nothing": {v1alpha1.NotificationSlack, nil, "Secret team-a/channel: SLACK_TOKEN is missing: it holds the bot's token, which begins with xoxb-; SLACK_CHANNEL_ID is missing: it holds the channel's ID, for example C0123456789"},
		"all wrong": {
			v1alpha1.NotificationSlack,
			map[string]string{"SLACK_TOKEN": "xoxb canary", "SLACK_CHANNEL_ID": "", "SLACK_API_URL": "canary.example.com"},
			"SLACK_TOKEN is not right: it holds the bot's token, which begins with xoxb-; SLACK_CHANNEL_ID is empty: it holds the channel's ID, for example C0123456789; SLACK_API_URL is not right: it holds the address of the service, which begins with https:// or http://; without it, https://slack.com/api/",
		},
		"header":           {v1alpha1.NotificationWebex, map[string]string{"WEBEX_TOKEN": "canary\r\nX-Evil: 1", "WEBEX_ROOM_ID": "room"}, "Secret team-a/channel: WEBEX_TOKEN is not right"},
		"path":             {v1alpha1.NotificationTelegram, map[string]string{"TELEGRAM_TOKEN": "canary/../x", "TELEGRAM_CHAT_ID": "@canary"}, "TELEGRAM_TOKEN is not right: it holds the bot's token, for example 123456:ABC-DEF; TELEGRAM_CHAT_ID is not right: it holds the chat's ID, a whole number; those of groups begin with -"},
		"discord, half":    {v1alpha1.NotificationDiscord, map[string]string{"DISCORD_TOKEN": "canary-token"}, "DISCORD_TOKEN (the bot's token) and DISCORD_CHANNEL_ID (the channel's ID, a number) are both needed, or DISCORD_WEBHOOK_URL"},
		"discord, channel": {v1alpha1.NotificationDiscord, map[string]string{"DISCORD_TOKEN": "canary-token", "DISCORD_CHANNEL_ID": "../canary"}, "DISCORD_CHANNEL_ID is not right"},
		"teams":            {v1alpha1.NotificationTeams, map[string]string{"TEAMS_WEBHOOK_URL": "ftp://canary"}, "TEAMS_WEBHOOK_URL is not right: it holds the address of a Workflow"},
		"mail": {
			v1alpha1.NotificationSMTP,
			map[string]string{"SMTP_HOST": "canary:25", "SMTP_PORT": "0", "SMTP_SENDER": "canary", "SMTP_RECIPIENTS": "canary@example.com\r\nBcc: canary", "SMTP_TLS": "canary"},
			"SMTP_RECIPIENTS is not right: it holds one or more mail addresses, separated by commas; SMTP_SENDER is not right: it holds one mail address; SMTP_HOST is not right: it holds the mail server's name, without its port; SMTP_PORT is not right",
		},
		"webhook":  {v1alpha1.NotificationWebhook, map[string]string{"WEBHOOK_URL": "https://"}, "WEBHOOK_URL is not right"},
		"template": {v1alpha1.NotificationWebhook, map[string]string{"WEBHOOK_URL": "https://example.com", "WEBHOOK_TEMPLATE": "a\n{{ canary }}"}, "WEBHOOK_TEMPLATE is not right: line 2: there is no such function; these are: json, len"},
	} {
		t.Run(name, func(t *testing.T) {
			sender, _ := newTestSender(t, nil)
			wantError(t, sender.New(test.kind)(t.Context(), settingsOf(test.keys), sample()), true, 0, test.want)
		})
	}
}

func TestTypesWithoutASecret(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	for _, kind := range []v1alpha1.NotificationType{v1alpha1.NotificationCleanerReport, v1alpha1.NotificationEvent, "Pigeon"} {
		if sender.New(kind) != nil {
			t.Errorf("there is a channel for %s", kind)
		}
	}
}

// A panic in a channel is its failure, and what it said stays here.
func TestPanicInAChannel(t *testing.T) {
	var none *Sender
	err := none.New(v1alpha1.NotificationWebex)(t.Context(), settingsOf(services()[1].keys("http://127.0.0.1:1")), sample())
	wantError(t, err, true, 0, "a fault of KubeCleaner")
}

func TestTemplates(t *testing.T) {
	document := []byte(`{"title":"a \"title\"","considered":11,"matched":3,"objects":[{"name":"one"},{"name":"two"}],"dryRun":false}`)
	for text, want := range map[string]string{
		`{"text": {{ json .title }}, "n": {{ .matched }}}`:                          `{"text": "a \"title\"", "n": 3}`,
		`{{ range $i, $o := .objects }}{{ if $i }},{{ end }}{{ $o.name }}{{ end }}`: `one,two`,
		`{{ range $.objects }}{{ .name }} of {{ $.matched }};{{ end }}`:             `one of 3;two of 3;`,
		`{{ len .objects }}{{ if not .dryRun }} really{{ end }}`:                    `2 really`,
		`{{ with index .objects 1 }}{{ .name }}{{ else }}none{{ end }}`:             `two`,
		// Numbers are numbers.
		`{{ if gt .considered .matched }}more{{ end }}{{ if gt .matched 0 }} some{{ end }}{{ if eq .failed 0 }} none{{ end }}`: `more some none`,
		// What the document leaves out because it is empty is there, and empty.
		`{{ range .objects }}{{ json .namespace }}{{ if .message }}: {{ .message }}{{ end }}{{ .reason }};{{ end }}`:        `"";"";`,
		`{{ len .tallies }}{{ range .tallies }}{{ .namespace }}{{ end }}{{ .test }}{{ json .schedule }}{{ json .tallies }}`: `0false""[]`,
	} {
		got, err := applyTemplate(text, document)
		if err != nil || string(got) != want {
			t.Errorf("%s makes %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`{{ .nosuch }}`: "line 1, column 4: the document has no such field",
		"\n{{ range .objects }}{{ .x }}{{ end }}":                     "line 2, column 24: the document has no such field",
		`{{ if gt .matched "2" }}{{ end }}`:                           "line 1, column 7: values of different types are compared: counts are whole numbers",
		`{{ .title `:                                                  "line 1: it cannot be read as a Go template, or does not fit the document",
		`{{ nosuch }}`:                                                "line 1: there is no such function",
		`{{ print .title }}`:                                          "the function print is not allowed",
		`{{ printf "%99999999d" 1 }}`:                                 "the function printf is not allowed",
		`{{ .title | html }}`:                                         "the function html is not allowed",
		`{{ (call .title) }}`:                                         "the function call is not allowed",
		`{{ if (js "x") }}{{ end }}`:                                  "the function js is not allowed",
		`{{ range 1000000000 }}{{ end }}`:                             "range is allowed only over a list",
		`{{ $n := 1000000000 }}{{ range $n }}{{ end }}`:               "range is allowed only over a list",
		`{{ with 1000000000 }}{{ range . }}{{ end }}{{end}}`:          "range is allowed only over a list",
		`{{ range .freedBytes }}{{ end }}`:                            "range is allowed only over a list",
		`{{ range $.considered }}{{ end }}`:                           "range is allowed only over a list",
		`{{ with .tallies }}{{ range .objects }}{{ end }}{{ end }}`:   "range is allowed only over a list",
		`{{ with .objects }}{{ range $.matched }}{{ end }}{{ end }}`:  "range is allowed only over a list",
		`{{ range .objects }}{{ range $.objects }}{{ end }}{{ end }}`: "range is allowed only over a list, .objects or .tallies ($.objects within with), and not within another range",
		`{{ range .objects }}{{ if true }}{{ else }}{{ range $.objects }}{{ end }}{{ end }}{{ end }}`:  "not within another range",
		`{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`:                                "define and block are not allowed",
		`{{ template "WEBHOOK_TEMPLATE" }}`:                                                            "template is not allowed",
		`{{ $x := json .title }}` + strings.Repeat(`{{ $x = json $x }}`, 60):                           "it makes more than 1024 KiB",
		`{{ range .objects }}` + strings.Repeat(" ", 60<<10) + `{{ end }}` + strings.Repeat("x", 5000): "it is longer than 64 KiB",
	} {
		if got, err := applyTemplate(text, document); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s makes %.40q, %v; want %s", text, got, err, want)
		}
	}
}

// What a template makes is sent as JSON if it is, else as text; the signature is that of the body that is sent.
func TestWebhookWithATemplate(t *testing.T) {
	for text, contentType := range map[string]string{`{"text": {{ json .title }}}`: "application/json", `{{ .title }}`: "text/plain; charset=utf-8"} {
		s := services()[6]
		s.contract = func(got received, _ string) (int, string, string) {
			var problems []string
			wants(&problems, got.header.Get("Content-Type") == contentType, "the type is %s", got.header.Get("Content-Type"))
			wants(&problems, got.header.Get("X-Kubecleaner-Signature-256") == "sha256="+signature(webhookSecret, got.body), "the signature is not that of the body")
			wants(&problems, strings.Contains(string(got.body), "24 deleted"), "the body is %s", got.body)
			wants(&problems, got.header.Get("Ce-Id") == "0a1b2c3d-0000-4000-8000-000000000001" && got.header.Get("Ce-Type") == "com.github.kubecleaner.run.failed", "the event is %v", got.header)
			return 200, "", strings.Join(problems, "; ")
		}
		sender, _ := newTestSender(t, nil)
		keys := s.keys(serve(t, s).URL)
		keys["WEBHOOK_TEMPLATE"] = text
		must(t, sender.New(s.kind)(t.Context(), settingsOf(keys), sample()))
	}
}

func TestRetryAfter(t *testing.T) {
	sender, clk := newTestSender(t, nil)
	c := &call{sender: sender}
	for header, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "0.25": 250 * time.Millisecond, "-1": 0, "NaN": 0, "Inf": maxRetryAfter, "99999999999999": maxRetryAfter, "soon": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		if got := c.retryAfter(header, nil); got != want {
			t.Errorf("%q is %s, want %s", header, got, want)
		}
	}
	at := clk.Now().Add(time.Hour)
	if got := c.retryAfter(at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), nil); got < 50*time.Minute || got > time.Hour {
		t.Errorf("in an hour is %s", got)
	}
}
