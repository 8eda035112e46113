// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// waiting is a run whose plan waits for a person.
func waiting() Message {
	message := sample()
	message.Run.Status.Phase, message.Run.Status.Plan = v1alpha1.RunAwaitingApproval, &v1alpha1.RunPlan{Objects: 30}
	return message
}

// Every service says how to approve a plan: by a command, and on the page, if its address is known.
func TestMessagesLinkToThePage(t *testing.T) {
	const run, plan = "https://cleaner.example.com/runs/stale-configmaps-1777604400", "https://cleaner.example.com/plans/stale-configmaps-1777604400"
	link := map[string]string{
		"slack": "<" + plan + "|Approve or reject on the page>", "telegram": `<a href="` + plan + `">Approve or reject on the page</a>`,
		"webhook": `"page": "` + plan + `"`,
	}
	eachService(t, func(t *testing.T, s service) {
		sender, _ := newTestSender(t, nil)
		server := serve(t, s)
		texts := []string{}
		for _, page := range []string{"", "https://cleaner.example.com/"} {
			sender.Page = page
			for _, message := range []Message{waiting(), sample()} {
				before := len(server.got())
				must(t, s.send(t, sender, server.URL, message))
				texts = append(texts, shown(s.kind, server.got()[before]))
			}
		}
		want, ok := link[s.name]
		if !ok {
			want = "[Approve or reject on the page](" + plan + ")"
		}
		if !strings.Contains(texts[2], want) || !strings.Contains(texts[3], run) {
			t.Errorf("%q, or the link to the run, is missing in\n%s\n%s", want, texts[2], texts[3])
		}
		if s.name != "webhook" && !strings.Contains(texts[2], "kubectl cleaner approve stale-configmaps-1777604400") {
			t.Errorf("the command is missing in\n%s", texts[2])
		}
		if without := texts[0] + texts[1]; strings.Contains(without, "on the page") || strings.Contains(without, `"page"`) {
			t.Errorf("there is a link to no page in\n%s", without)
		}
	})
}

// Mails have the address as it is. A sample leads to the Cleaner: its run does not exist.
func TestLinkInAMail(t *testing.T) {
	message := waiting()
	s := &Sender{Page: "https://cleaner.example.com"}
	message.page = s.pageOf(message)
	r := newReport(message, strings.TrimSpace)
	want := "Approve or reject on the page: https://cleaner.example.com/plans/stale-configmaps-1777604400\n"
	for _, limit := range []int{maxMail, 0} {
		if text := plainText().join(plainText().render(r, true, limit, plainText().length).sections) + "\n"; !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	message.Test = true
	message.page = s.pageOf(message)
	r = newReport(message, strings.TrimSpace)
	want = "The Cleaner on the page: https://cleaner.example.com/cleaners/stale-configmaps\n"
	if text := plainText().join(plainText().render(r, true, maxMail, plainText().length).sections) + "\n"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in the sample\n%s", want, text)
	}
}
