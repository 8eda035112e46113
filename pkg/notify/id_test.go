// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"slices"
	"testing"

	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

// What is sent again has the ID of before, so that a receiver can drop it. Two notifications of one run, and one of two runs, do not.
func TestIDs(t *testing.T) {
	box := &servers.Mailbox{Open: true}
	keys := startMail(t, box)
	keys["SMTP_TLS"], keys["SMTP_PASSWORD"] = "none", ""
	hooks := services()[slices.IndexFunc(services(), func(s service) bool { return s.name == "webhook" })]
	server := serve(t, hooks)
	sender, _ := newTestSender(t, nil)
	other := sample()
	other.Run.UID = "0a1b2c3d-0000-4000-8000-000000000002"
	for _, of := range []struct {
		name    string
		message Message
	}{{"mail-one", sample()}, {"mail-one", sample()}, {"mail-two", sample()}, {"mail-one", other}, {"a name\r\nX: y", sample()}} {
		of.message.Notification = of.name
		must(t, sendTo(t, sender, keys, of.message))
		must(t, hooks.send(t, sender, server.URL, of.message))
	}
	var mails, events []string
	for _, mail := range box.Mails(t) {
		header, _, _ := read(t, mail.Text)
		mails = append(mails, header.Get("Message-Id"))
	}
	for _, got := range server.got() {
		events = append(events, got.header.Get("Ce-Id"))
	}
	const uid = "0a1b2c3d-0000-4000-8000-000000000001"
	for what, ids := range map[string][]string{"<" + uid + "-016b64653ba7@kubecleaner>": mails, uid + "-016b64653ba7": events} {
		if ids[0] != what || ids[1] != ids[0] || ids[2] == ids[0] || ids[3] == ids[0] || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
			t.Errorf("the IDs are %q, the first should be %q", ids, what)
		}
	}
}
