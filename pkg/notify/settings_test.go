// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import "testing"

// Who mistyped a key learns which one it is.
func TestMistypedKey(t *testing.T) {
	sender, _ := newTestSender(t, nil)
	err := sender.New("Slack")(t.Context(), settingsOf(map[string]string{"SLACK_TOKEN": slackToken, "SLACK_CHANEL_ID": "C0777777777", "slack-token": slackToken}), sample())
	wantError(t, err, true, 0, "Secret team-a/channel: SLACK_CHANNEL_ID is missing: it holds the channel's ID, for example C0123456789; it has keys that are not used: SLACK_CHANEL_ID, slack-token")
}

// People need the Secret's name, also when an address in it begins like that.
func TestTheSecretsNameIsShown(t *testing.T) {
	t.Parallel()
	v := values{secret: "team-a/hooks", mask: masker(map[string][]byte{"WEBHOOK_URL": []byte("http://example.com/hooks-404/404")})}
	err := v.redact(permanent("the service answered 404 to /hooks-404/404; %s", v.check("WEBHOOK_URL")))
	if want := "the service answered 404 to ******; check WEBHOOK_URL in Secret team-a/hooks"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
