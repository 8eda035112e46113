// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	telegramURL = "https://api.telegram.org"
	// maxTelegram is the most characters of a message.
	maxTelegram = 4096
)

func telegramChannel() channel {
	return channel{
		keys: []key{
			{
				name:    "TELEGRAM_TOKEN",
				hidden:  true,
				holds:   "the bot's token, for example 123456:ABC-DEF",
				isRight: isTelegramToken,
			},
			{
				name:  "TELEGRAM_CHAT_ID",
				holds: "the chat's ID, a whole number; those of groups begin with -",
				isRight: func(value string) bool {
					_, err := strconv.ParseInt(value, 10, 64)
					return err == nil
				},
			},
			apiURL("TELEGRAM", telegramURL),
		},
		send: sendTelegram,
	}
}

// isTelegramToken reports whether a token can stand in the path of a URL, where Telegram has it.
func isTelegramToken(value string) bool {
	return isWord(value) && !strings.ContainsAny(value, "/?#%\\")
}

// sendTelegram sends a message, and the report as a document of JSON in answer to it.
func sendTelegram(ctx context.Context, c *call, v values, r *report) error {
	m := markup{
		escape:     escapeHTML,
		boldBefore: "<b>",
		boldAfter:  "</b>",
		codeBefore: "<code>",
		codeAfter:  "</code>",
		bullet:     "• ",
		link:       func(text, address string) string { return `<a href="` + address + `">` + text + "</a>" },
	}
	title := m.bold(r.title, maxTitle) + "\n\n"
	page := m.render(r, true, maxTelegram-len(title), m.length)
	api, err := bot.New(
		v.get("TELEGRAM_TOKEN"),
		bot.WithSkipGetMe(),
		bot.WithHTTPClient(attemptTimeout, c.client()),
		bot.WithServerURL(
			strings.TrimSuffix(v.or("TELEGRAM_API_URL", telegramURL), "/"),
		),
		bot.WithErrorsHandler(func(error) {}),
		bot.WithUpdatesChannelCap(0),
	)
	if err != nil {
		return permanent("TELEGRAM_TOKEN in Secret %s is not right", v.secret)
	}
	chat, err := strconv.ParseInt(v.get("TELEGRAM_CHAT_ID"), 10, 64)
	if err != nil {
		return permanent("TELEGRAM_CHAT_ID in Secret %s is not a whole number", v.secret)
	}
	noPreview := true
	sent, err := api.SendMessage(ctx, &bot.SendMessageParams{
		ChatID:             chat,
		Text:               title + m.join(page.sections),
		ParseMode:          models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &noPreview},
	})
	if err != nil {
		return telegramError(c, v, err)
	}
	name, content := r.file()
	_, err = api.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID:              chat,
		Document:            &models.InputFileUpload{Filename: name, Data: bytes.NewReader(content)},
		DisableNotification: true,
		ReplyParameters:     &models.ReplyParameters{MessageID: sent.ID, AllowSendingWithoutReply: true},
	})
	if err != nil {
		return withoutFile(telegramError(c, v, err))
	}
	return nil
}

// telegramError says why Telegram did not take a message. It has no codes, but texts, of which the common ones are
// known here.
func telegramError(c *call, v values, err error) *Error {
	var moved *bot.MigrateError
	text := strings.ToLower(err.Error())
	switch {
	case c.failure != nil:
		return c.failure
	case errors.As(err, &moved):
		return permanent(
			"the group has become a supergroup, whose ID is another; put that into TELEGRAM_CHAT_ID in Secret %s",
			v.secret,
		)
	case strings.Contains(text, "chat not found"):
		return permanent(
			"Telegram does not know the chat; %s, and write to the bot once or invite it to the group",
			v.check("TELEGRAM_CHAT_ID"),
		)
	case strings.Contains(text, "bot was blocked"),
		strings.Contains(text, "bot was kicked"),
		strings.Contains(text, "not enough rights"):
		return permanent("the bot may not write in the chat; invite it again, or let it send messages")
	case c.status == 401 || c.status == 404:
		return c.explain(v.check("TELEGRAM_TOKEN"))
	}
	return c.explain(v.check("TELEGRAM_TOKEN", "TELEGRAM_CHAT_ID"))
}
