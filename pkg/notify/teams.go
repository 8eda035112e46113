// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	goteamsnotify "github.com/atc0005/go-teams-notify/v2"
	"github.com/atc0005/go-teams-notify/v2/adaptivecard"
	"k8s.io/klog/v2"
)

// maxTeams is how many bytes the texts of a card may have as JSON: Teams takes about 28 KB in all.
const maxTeams = 20 << 10

func teamsChannel() channel {
	return channel{
		keys: []key{
			{
				name:    "TEAMS_WEBHOOK_URL",
				hidden:  true,
				holds:   "the address of a Workflow of the channel, \"Post to a channel when a webhook request is received\"",
				isRight: isURL,
			},
		},
		send: sendTeams,
	}
}

// sendTeams posts an Adaptive Card. Teams takes no files.
func sendTeams(ctx context.Context, c *call, v values, r *report) error {
	address, err := url.Parse(v.get("TEAMS_WEBHOOK_URL"))
	if err != nil {
		return permanent("TEAMS_WEBHOOK_URL in Secret %s is not a URL", v.secret)
	}
	hint := v.check("TEAMS_WEBHOOK_URL")
	if isConnector(address) {
		klog.FromContext(ctx).
			Info("A notification goes to an Office 365 connector, which Microsoft retires: make a Workflow of the channel and put its URL into TEAMS_WEBHOOK_URL", "secret", v.secret)
		hint += ": it is of an Office 365 connector, which Microsoft retires; make a Workflow of the channel"
	}
	message, err := teamsCard(r)
	if err != nil {
		return permanent("the card could not be put together")
	}
	client := goteamsnotify.NewTeamsClient().
		SetHTTPClient(c.client()).
		SetUserAgent("kubecleaner").
		SkipWebhookURLValidationOnSend(true)
	switch err = client.SendWithContext(ctx, address.String(), message); {
	case err == nil, c.failure == nil && c.status >= 200 && c.status < 300 && isWorkflow(address):
		return nil
	case c.failure == nil && c.status >= 200 && c.status < 300: // a connector does not say it otherwise
		return permanent(
			"the service answered %d, but did not confirm the message; it is not sent again, because it may have arrived; %s",
			c.status,
			hint,
		)
	}
	return c.explain(hint)
}

// isConnector reports whether an address is of the older kind.
func isConnector(address *url.URL) bool {
	host := strings.ToLower(address.Hostname())
	return host == "outlook.office.com" || host == "outlook.office365.com" ||
		strings.HasSuffix(host, ".webhook.office.com")
}

// isWorkflow reports whether an address is of a Workflow: by its status alone it says that it has the message.
func isWorkflow(address *url.URL) bool {
	host := strings.ToLower(address.Hostname())
	return strings.HasSuffix(host, ".logic.azure.com") || strings.HasSuffix(host, ".api.powerplatform.com")
}

func teamsCard(r *report) (*adaptivecard.Message, error) {
	m := markdown()
	m.codeBefore, m.codeAfter, m.inCode = "", "", escapeMarkdown // cards know no code
	page := m.render(r, false, maxTeams, func(sections []section) int {
		text, err := json.Marshal(m.join(sections))
		if err != nil {
			return maxTeams + 1
		}
		return len(text)
	})
	card := adaptivecard.NewCard()
	title := adaptivecard.NewTitleTextBlock(m.text(r.title, maxTitle), true)
	title.Color = [...]string{
		toneInfo: adaptivecard.ColorAccent, toneDone: adaptivecard.ColorGood,
		toneAlarm: adaptivecard.ColorAttention,
	}[r.tone]
	if err := card.AddElement(false, title); err != nil {
		return nil, err
	}
	for _, s := range page.sections {
		text := m.one(s)
		if s.heading != "" { // a list begins behind a free line only
			text = strings.Replace(text, "\n", "\n\n", 1)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := card.AddElement(false, adaptivecard.NewTextBlock(text, true)); err != nil {
			return nil, err
		}
	}
	card.SetFullWidth()
	return adaptivecard.NewMessageFromCard(card)
}
