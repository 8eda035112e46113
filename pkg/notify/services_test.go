// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// service is what a test knows of a service that is reached by HTTP.
type service struct {
	kind v1alpha1.NotificationType
	// name distinguishes two ways to the same service.
	name string
	// keys is the Secret for a server at the address.
	keys func(address string) map[string]string
	// contract is what the service answers to a request, and what is wrong with that.
	contract func(got received, address string) (status int, answer, problem string)
	// requests is how many requests a message takes whose report is whole, and one that has more.
	requests, large int
	// key is what a refusal for want of rights points at.
	key string
}

const (
	slackToken    = "xoxb-canary-slack-token"
	webexToken    = "canary-webex-token"
	discordToken  = "canary.discord.token"
	telegramToken = "123456:canary-telegram-token"
	webhookToken  = "canary-webhook-token"
	webhookSecret = "canary-webhook-secret"
)

func services() []service {
	return []service{
		{kind: v1alpha1.NotificationSlack, name: "slack", contract: slackContract, requests: 4, large: 4, key: "SLACK_TOKEN", keys: func(address string) map[string]string {
			return map[string]string{"SLACK_TOKEN": slackToken, "SLACK_CHANNEL_ID": "C0CANARY001", "SLACK_API_URL": address + "/api"}
		}},
		{kind: v1alpha1.NotificationWebex, name: "webex", contract: webexContract, requests: 1, large: 1, key: "WEBEX_TOKEN", keys: func(address string) map[string]string {
			return map[string]string{"WEBEX_TOKEN": webexToken, "WEBEX_ROOM_ID": "room-canary-1", "WEBEX_API_URL": address}
		}},
		{kind: v1alpha1.NotificationDiscord, name: "discord", contract: discordContract, requests: 1, large: 1, key: "DISCORD_TOKEN", keys: func(address string) map[string]string {
			return map[string]string{"DISCORD_TOKEN": discordToken, "DISCORD_CHANNEL_ID": "112233445566", "DISCORD_API_URL": address}
		}},
		{kind: v1alpha1.NotificationDiscord, name: "discord-webhook", contract: discordContract, requests: 1, large: 1, key: "DISCORD_WEBHOOK_URL", keys: func(address string) map[string]string {
			return map[string]string{"DISCORD_WEBHOOK_URL": address + "/api/webhooks/112233/canary-discord-webhook"}
		}},
		{kind: v1alpha1.NotificationTeams, name: "teams", contract: teamsContract, requests: 1, large: 1, key: "TEAMS_WEBHOOK_URL", keys: func(address string) map[string]string {
			return map[string]string{"TEAMS_WEBHOOK_URL": address + "/workflows/canary-workflow/run?sig=canary-signature"}
		}},
		{kind: v1alpha1.NotificationTelegram, name: "telegram", contract: telegramContract, requests: 2, large: 2, key: "TELEGRAM_TOKEN", keys: func(address string) map[string]string {
			return map[string]string{"TELEGRAM_TOKEN": telegramToken, "TELEGRAM_CHAT_ID": "-1001234567", "TELEGRAM_API_URL": address}
		}},
		{kind: v1alpha1.NotificationWebhook, name: "webhook", contract: webhookContract, requests: 1, large: 1, key: "WEBHOOK_URL", keys: func(address string) map[string]string {
			return map[string]string{"WEBHOOK_URL": address + "/hook/canary-webhook-path", "WEBHOOK_SECRET": webhookSecret, "WEBHOOK_TOKEN": webhookToken}
		}},
	}
}

func wants(problems *[]string, ok bool, format string, args ...any) {
	if !ok {
		*problems = append(*problems, fmt.Sprintf(format, args...))
	}
}

// slackContract is that of chat.postMessage and of the three steps of an upload.
func slackContract(got received, address string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost, "the method is not POST")
	form, _ := url.ParseQuery(string(got.body))
	if got.path != "/upload/1" {
		wants(&problems, got.header.Get("Content-Type") == "application/x-www-form-urlencoded", "the type is %s", got.header.Get("Content-Type"))
		wants(&problems, form.Get("token") == slackToken, "the token is missing")
	}
	answer := `{"ok":true}`
	switch got.path {
	case "/api/chat.postMessage":
		wants(&problems, form.Get("channel") == "C0CANARY001", "the channel is %q", form.Get("channel"))
		answer = `{"ok":true,"channel":"C0CANARY001","ts":"1777604400.000100"}`
		var attachments []struct {
			Color, Fallback string
			Blocks          []struct {
				Type string
				Text struct {
					Type, Text string
					Verbatim   bool
				}
			}
		}
		wants(&problems, json.Unmarshal([]byte(form.Get("attachments")), &attachments) == nil && len(attachments) == 1, "there is not one attachment")
		for _, a := range attachments {
			wants(&problems, strings.HasPrefix(a.Color, "#") && len(a.Color) == 7, "the colour is %q", a.Color)
			wants(&problems, a.Fallback != "", "there is no fallback")
			wants(&problems, len(a.Blocks) <= 50, "there are %d blocks", len(a.Blocks))
			for _, b := range a.Blocks {
				limit := map[string]int{"header": 150, "section": 3000}[b.Type]
				wants(&problems, b.Text.Text != "" && len([]rune(b.Text.Text)) <= limit, "a %s has %d characters", b.Type, len(b.Text.Text))
				wants(&problems, b.Type == "header" || b.Text.Verbatim, "a section is not verbatim")
			}
		}
	case "/api/files.getUploadURLExternal":
		wants(&problems, form.Get("filename") != "" && form.Get("length") != "", "the name or the length of the file is missing")
		answer = `{"ok":true,"upload_url":"` + address + `/upload/1","file_id":"F1"}`
	case "/upload/1":
		wants(&problems, got.header.Get("Authorization") == "Bearer "+slackToken, "the token is missing")
		name, file := fileIn(got)
		wants(&problems, strings.HasSuffix(name, ".json") && json.Valid(file), "the file %q is not JSON", name)
	case "/api/files.completeUploadExternal":
		wants(&problems, form.Get("channel_id") == "C0CANARY001" && form.Get("thread_ts") == "1777604400.000100" && strings.Contains(form.Get("files"), `"F1"`), "the form is %v", form)
		answer = `{"ok":true,"files":[{"id":"F1","title":"x"}]}`
	default:
		problems = append(problems, "there is no such method")
	}
	return http.StatusOK, answer, strings.Join(problems, "; ")
}

func webexContract(got received, _ string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost && got.path == "/v1/messages", "there is no such method")
	wants(&problems, got.header.Get("Authorization") == "Bearer "+webexToken, "the token is missing")
	fields := fieldsIn(got)
	wants(&problems, fields["roomId"] == "room-canary-1", "the room is %q", fields["roomId"])
	wants(&problems, fields["markdown"] != "" && len(fields["markdown"]) <= 7439, "the message has %d bytes", len(fields["markdown"]))
	name, file := fileIn(got)
	wants(&problems, strings.HasSuffix(name, ".json") && json.Valid(file), "the file %q is not JSON", name)
	return http.StatusOK, `{"id":"m1"}`, strings.Join(problems, "; ")
}

func discordContract(got received, _ string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost, "the method is not POST")
	switch got.path {
	case "/api/v10/channels/112233445566/messages":
		wants(&problems, got.header.Get("Authorization") == "Bot "+discordToken, "the token is missing")
	case "/api/webhooks/112233/canary-discord-webhook?wait=true":
		wants(&problems, got.header.Get("Authorization") == "", "there is a token")
	default:
		problems = append(problems, "there is no such method")
	}
	payload := discordPayload(got)
	wants(&problems, len(payload.Embeds) == 1, "there are %d embeds", len(payload.Embeds))
	wants(&problems, payload.AllowedMentions.Parse != nil && len(payload.AllowedMentions.Parse) == 0, "mentions are allowed")
	for _, e := range payload.Embeds {
		title, description := len([]rune(e.Title)), len([]rune(e.Description))
		wants(&problems, title > 0 && title <= 256 && description > 0 && description <= 4096 && title+description <= 6000, "the embed has %d and %d characters", title, description)
	}
	if strings.HasPrefix(got.header.Get("Content-Type"), "multipart/") {
		name, file := fileIn(got)
		wants(&problems, strings.HasSuffix(name, ".json") && json.Valid(file), "the file %q is not JSON", name)
	}
	return http.StatusOK, `{"id":"1"}`, strings.Join(problems, "; ")
}

type discordMessage struct {
	Embeds []struct {
		Title, Description, Timestamp string
		Color                         int
	}
	AllowedMentions struct{ Parse []string } `json:"allowed_mentions"`
}

func discordPayload(got received) (payload discordMessage) {
	body := got.body
	if strings.HasPrefix(got.header.Get("Content-Type"), "multipart/") {
		body = []byte(fieldsIn(got)["payload_json"])
	}
	_ = json.Unmarshal(body, &payload)
	return payload
}

type teamsMessage struct {
	Type        string
	Attachments []struct {
		ContentType string
		Content     struct {
			Type, Version string
			Body          []struct{ Type, Text, Color string }
		}
	}
}

func teamsContract(got received, _ string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost && got.path == "/workflows/canary-workflow/run?sig=canary-signature", "there is no such method")
	wants(&problems, strings.HasPrefix(got.header.Get("Content-Type"), "application/json"), "the type is %s", got.header.Get("Content-Type"))
	wants(&problems, len(got.body) <= 28<<10, "the message has %d bytes", len(got.body))
	var message teamsMessage
	wants(&problems, json.Unmarshal(got.body, &message) == nil && message.Type == "message" && len(message.Attachments) == 1, "there is not one attachment")
	for _, a := range message.Attachments {
		wants(&problems, a.ContentType == "application/vnd.microsoft.card.adaptive" && a.Content.Type == "AdaptiveCard" && len(a.Content.Body) > 1, "there is no Adaptive Card")
	}
	return http.StatusAccepted, "", strings.Join(problems, "; ")
}

func telegramContract(got received, _ string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost, "the method is not POST")
	fields := fieldsIn(got)
	wants(&problems, fields["chat_id"] == "-1001234567", "the chat is %q", fields["chat_id"])
	switch got.path {
	case "/bot" + telegramToken + "/sendMessage":
		wants(&problems, fields["parse_mode"] == "HTML", "the mode is %q", fields["parse_mode"])
		wants(&problems, fields["text"] != "" && len([]rune(fields["text"])) <= 4096, "the message has %d characters", len(fields["text"]))
	case "/bot" + telegramToken + "/sendDocument":
		name, file := fileIn(got)
		wants(&problems, strings.HasSuffix(name, ".json") && json.Valid(file), "the file %q is not JSON", name)
		wants(&problems, strings.Contains(fields["reply_parameters"], `"message_id":42`), "it is no reply: %s", fields["reply_parameters"])
	default:
		problems = append(problems, "there is no such method")
	}
	return http.StatusOK, `{"ok":true,"result":{"message_id":42,"date":1,"chat":{"id":-1001234567,"type":"group"}}}`, strings.Join(problems, "; ")
}

func webhookContract(got received, _ string) (int, string, string) {
	var problems []string
	wants(&problems, got.method == http.MethodPost && got.path == "/hook/canary-webhook-path", "there is no such method")
	wants(&problems, got.header.Get("Content-Type") == "application/json" && json.Valid(got.body), "it is not JSON")
	wants(&problems, got.header.Get("Authorization") == "Bearer "+webhookToken, "the token is missing")
	wants(&problems, got.header.Get("X-Kubecleaner-Signature-256") == "sha256="+signature(webhookSecret, got.body), "the signature is not that of the body")
	for _, name := range []string{"ce-specversion", "ce-id", "ce-type", "ce-source", "ce-time"} {
		value := got.header.Get(name)
		wants(&problems, value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }), "the header %s is %q", name, value)
	}
	return http.StatusNoContent, "", strings.Join(problems, "; ")
}
