// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"strings"
)

const (
	webexURL = "https://webexapis.com"
	// maxWebex is the most bytes that Webex takes in a message.
	maxWebex = 7439
)

func webexChannel() channel {
	return channel{
		keys: []key{
			{name: "WEBEX_TOKEN", holds: "the bot's access token", hidden: true, isRight: isWord},
			{name: "WEBEX_ROOM_ID", holds: "the ID of the space", isRight: isWord},
			apiURL("WEBEX", webexURL),
		},
		send: sendWebex,
	}
}

// sendWebex posts Markdown, and the report as a file of JSON.
func sendWebex(ctx context.Context, c *call, v values, r *report) error {
	m := markdown()
	m.escape = func(text string) string {
		return strings.NewReplacer(`\<`, "&lt;", `\>`, "&gt;", `\&`, "&amp;").Replace(escapeMarkdown(text))
	}
	title := m.bold(r.title, maxTitle) + "\n\n"
	page := m.render(r, true, maxWebex-len(title), m.length)
	name, content := r.file()
	body, contentType, err := form(
		[][2]string{{"roomId", v.get("WEBEX_ROOM_ID")}, {"markdown", title + m.join(page.sections)}},
		"files",
		name,
		content,
	)
	if err != nil {
		return err
	}
	_, err = c.post(ctx, strings.TrimSuffix(v.or("WEBEX_API_URL", webexURL), "/")+"/v1/messages", contentType, body,
		http.Header{"Authorization": {"Bearer " + v.get("WEBEX_TOKEN")}})
	if err != nil || c.status >= 300 {
		return c.explain(v.check("WEBEX_TOKEN", "WEBEX_ROOM_ID") + ", and whether the bot is a member of the space")
	}
	return nil
}

// markdown is that of Webex, Discord and Teams, as far as they agree.
func markdown() markup {
	return markup{
		escape:     escapeMarkdown,
		boldBefore: "**",
		boldAfter:  "**",
		codeBefore: "`",
		codeAfter:  "`",
		inCode:     noTicks,
		bullet:     "- ",
		link:       func(text, address string) string { return "[" + text + "](" + address + ")" },
	}
}

// form is a multipart form with one file.
func form(fields [][2]string, fileField, name string, content []byte) (body []byte, contentType string, err error) {
	var buffer bytes.Buffer
	writer := multipart.NewWriter(&buffer)
	for _, field := range fields {
		if err := writer.WriteField(field[0], field[1]); err != nil {
			return nil, "", err
		}
	}
	part, err := writer.CreatePart(map[string][]string{
		"Content-Disposition": {multipart.FileContentDisposition(fileField, name)}, "Content-Type": {"application/json"},
	})
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(content); err != nil {
		return nil, "", err
	}
	err = writer.Close() // which writes the end
	return buffer.Bytes(), writer.FormDataContentType(), err
}
