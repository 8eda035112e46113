// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	discordURL = "https://discord.com"
	// Discord's limits, in characters.
	maxDiscordTitle       = 256
	maxDiscordDescription = 4096
)

func discordChannel() channel {
	return channel{
		keys: []key{
			{
				name:     "DISCORD_WEBHOOK_URL",
				optional: true,
				hidden:   true,
				holds:    "the address of a channel's webhook, https://discord.com/api/webhooks/...",
				isRight:  isURL,
			},
			{name: "DISCORD_TOKEN", optional: true, hidden: true, holds: "the bot's token", isRight: isWord},
			{name: "DISCORD_CHANNEL_ID", optional: true, holds: "the channel's ID, a number", isRight: isNumber},
			apiURL("DISCORD", discordURL),
		},
		also: func(v values) []string {
			if v.get("DISCORD_WEBHOOK_URL") != "" || v.get("DISCORD_TOKEN") != "" && v.get("DISCORD_CHANNEL_ID") != "" {
				return nil
			}
			return []string{
				"DISCORD_TOKEN (the bot's token) and DISCORD_CHANNEL_ID (the channel's ID, a number) are both needed, or DISCORD_WEBHOOK_URL (the address of a channel's webhook)",
			}
		},
		send: sendDiscord,
	}
}

func isNumber(value string) bool {
	_, err := strconv.ParseUint(value, 10, 64)
	return err == nil
}

// discordAgent has the form that Discord's reference asks for, and by which it may refuse others.
const discordAgent = "DiscordBot (https://github.com/kubecleaner/kubecleaner, v0)"

// sendDiscord posts an embed, as a bot or to a webhook. What it does not list is in an attached file.
func sendDiscord(ctx context.Context, c *call, v values, r *report) error {
	m := markdown()
	page := m.render(r, true, maxDiscordDescription, m.length)
	embed := map[string]any{
		"title": v1alpha1.Truncate(
			escapeMarkdown(v1alpha1.Truncate(r.title, maxDiscordTitle/2)),
			maxDiscordTitle,
		),
		"description": m.join(page.sections),
		"color":       r.tone.colour(),
		"timestamp":   r.document.NominalTime.UTC().Format("2006-01-02T15:04:05Z"),
	}
	// Nobody is to be notified by what stands in the message.
	payload, err := json.Marshal(
		map[string]any{"embeds": []any{embed}, "allowed_mentions": map[string]any{"parse": []string{}}},
	)
	if err != nil {
		return err
	}
	if page.whole {
		return postDiscord(ctx, c, v, payload, "application/json")
	}
	name, content := r.file()
	body, contentType, err := form([][2]string{{"payload_json", string(payload)}}, "files[0]", name, content)
	if err != nil {
		return err
	}
	err = postDiscord(ctx, c, v, body, contentType)
	var refused *Error
	if errors.As(err, &refused) && (c.status == http.StatusForbidden || c.status == http.StatusRequestEntityTooLarge) {
		if err = postDiscord(ctx, c, v, payload, "application/json"); err == nil {
			return withoutFile(refused)
		}
	}
	return err
}

// postDiscord posts a message, perhaps with a file.
func postDiscord(ctx context.Context, c *call, v values, body []byte, contentType string) error {
	address, header, hint := discordAddress(v)
	header.Set("User-Agent", discordAgent)
	answer, err := c.post(ctx, address, contentType, body, header)
	if err != nil {
		return err
	}
	if c.status >= 300 {
		var refusal struct {
			Code json.Number `json:"code"`
		}
		_ = json.Unmarshal(answer, &refusal) // without a code the status must do
		return answered(c.status, refusal.Code.String(), hint)
	}
	return nil
}

// discordAddress is where a message goes, with which header, and what to look at when it is refused.
func discordAddress(v values) (address string, header http.Header, hint string) {
	if webhook, err := url.Parse(v.get("DISCORD_WEBHOOK_URL")); err == nil && webhook.Host != "" {
		query := webhook.Query()
		query.Set("wait", "true") // answer when the message stands there, not before
		webhook.RawQuery = query.Encode()
		return webhook.String(), http.Header{}, v.check("DISCORD_WEBHOOK_URL")
	}
	return strings.TrimSuffix(
			v.or("DISCORD_API_URL", discordURL),
			"/",
		) + "/api/v10/channels/" + v.get(
			"DISCORD_CHANNEL_ID",
		) + "/messages",
		http.Header{
			"Authorization": {"Bot " + v.get("DISCORD_TOKEN")},
		},
		v.check(
			"DISCORD_TOKEN",
			"DISCORD_CHANNEL_ID",
		) + ", and whether the bot may send messages, embed links and attach files in the channel"
}
