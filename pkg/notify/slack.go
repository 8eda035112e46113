// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// Slack's limits, in characters: of a header, and of a section's text. maxSlack is the size of a whole message, which
	// people still read.
	maxSlackHeader  = 150
	maxSlackSection = 3000
	maxSlack        = 9000
)

func slackChannel() channel {
	return channel{
		keys: []key{
			{name: "SLACK_TOKEN", holds: "the bot's token, which begins with xoxb-", hidden: true, isRight: isWord},
			{name: "SLACK_CHANNEL_ID", holds: "the channel's ID, for example C0123456789", isRight: isWord},
			apiURL("SLACK", slack.APIURL),
		},
		send: sendSlack,
	}
}

// sendSlack posts one coloured attachment. What it does not list is in a file in the message's thread.
func sendSlack(ctx context.Context, c *call, v values, r *report) error {
	m := markup{
		escape: escapeSlack, boldBefore: "*", boldAfter: "*", codeBefore: "`", codeAfter: "`", bullet: "• ",
		inCode: func(text string) string { return escapeSlack(noTicks(text)) },
		link:   func(text, address string) string { return "<" + address + "|" + text + ">" },
	}
	page := m.render(r, true, maxSlack, m.length)
	api := slack.New(
		v.get("SLACK_TOKEN"),
		slack.OptionHTTPClient(c.client()),
		slack.OptionAPIURL(strings.TrimSuffix(v.or("SLACK_API_URL", slack.APIURL), "/")+"/"),
	)
	attachment := slack.Attachment{
		Color: fmt.Sprintf("#%06X", r.tone.colour()), Fallback: v1alpha1.Truncate(escapeSlack(r.title), maxSlackHeader),
		Blocks: slack.Blocks{BlockSet: slackBlocks(m, r, page.sections)},
	}
	_, timestamp, err := api.PostMessageContext(ctx, v.get("SLACK_CHANNEL_ID"), slack.MsgOptionAttachments(attachment),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	if err == nil && timestamp == "" {
		err = slack.SlackErrorResponse{Err: "no_timestamp"}
	}
	if err != nil {
		return slackError(c, v, err)
	}
	if page.whole {
		return nil
	}
	name, content := r.file()
	_, err = api.UploadFileContext(ctx, slack.UploadFileParameters{
		Channel: v.get(
			"SLACK_CHANNEL_ID",
		),
		ThreadTimestamp: timestamp,
		Filename:        name,
		Title:           name,
		Content:         string(content),
		FileSize:        len(content),
	})
	if err != nil {
		return withoutFile(slackError(c, v, err))
	}
	return nil
}

// withoutFile is the error of a message that arrived without its file. To send it all again would say everything twice.
func withoutFile(err *Error) *Error {
	return permanent("the message was delivered, but without its file: %s", err.Reason)
}

// slackBlocks puts lines into as few sections as they fit into.
func slackBlocks(m markup, r *report, sections []section) []slack.Block {
	header := slack.NewTextBlockObject(slack.PlainTextType, v1alpha1.Truncate(r.title, maxSlackHeader), false, false)
	blocks := []slack.Block{slack.NewHeaderBlock(header)}
	for _, s := range sections {
		text := ""
		flush := func() {
			if strings.TrimSpace(text) != "" {
				blocks = append(
					blocks,
					slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, true), nil, nil),
				)
			}
			text = ""
		}
		for line := range strings.Lines(m.one(s)) {
			if len(text)+len(line) > maxSlackSection {
				flush()
			}
			text += line
		}
		flush()
	}
	return blocks
}

// slackError says why Slack did not take a message, by its code.
func slackError(c *call, v values, err error) *Error {
	var refusal slack.SlackErrorResponse
	if c.failure != nil || !errors.As(err, &refusal) {
		return c.explain(v.check("SLACK_TOKEN"))
	}
	code := shortCode(refusal.Err)
	switch code {
	case "no_timestamp",
		"internal_error",
		"fatal_error",
		"service_unavailable",
		"request_timeout",
		"ratelimited",
		"rate_limited":
		return passing("Slack answered that it failed (%s)", code)
	case "channel_not_found", "is_archived", "not_in_channel":
		return permanent(
			"Slack refused it (%s); %s, and invite the bot to the channel: /invite @NAME",
			code,
			v.check("SLACK_CHANNEL_ID"),
		)
	case "missing_scope":
		return permanent("Slack refused it (%s); give the bot the scopes chat:write and files:write", code)
	case "":
		return permanent("Slack refused it; %s", v.check("SLACK_TOKEN", "SLACK_CHANNEL_ID"))
	}
	return permanent("Slack refused it (%s); %s", code, v.check("SLACK_TOKEN", "SLACK_CHANNEL_ID"))
}
