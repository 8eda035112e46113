// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// What docs/how-to/notifications.md shows works: the Secrets have the keys of their types, the template makes JSON, and the Cleaner is one.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/how-to/notifications.md")
	must(t, err)
	kinds := map[string]v1alpha1.NotificationType{
		"slack": v1alpha1.NotificationSlack, "webex": v1alpha1.NotificationWebex, "discord": v1alpha1.NotificationDiscord, "teams": v1alpha1.NotificationTeams,
		"telegram": v1alpha1.NotificationTelegram, "mail": v1alpha1.NotificationSMTP, "webhook": v1alpha1.NotificationWebhook,
	}
	seen := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^kubectl create secret generic (\S+) -n \S+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		settings := Settings{Secret: line[1], Keys: map[string][]byte{}}
		for _, pair := range regexp.MustCompile(`--from-literal=([A-Z_]+)=(\S+)`).FindAllStringSubmatch(line[2], -1) {
			settings.Keys[pair[1]] = []byte(pair[2])
		}
		channel, ok := channelOf(kinds[line[1]])
		if !ok {
			t.Fatalf("there is no channel for %s", line[0])
		}
		_, err := channel.read(settings)
		must(t, err)
		for name := range settings.Keys {
			if !hasKey(channel, name) {
				t.Errorf("%s has no key %s", line[1], name)
			}
		}
		for _, key := range channel.keys {
			if !strings.Contains(string(text), "`"+key.name+"`") && !strings.Contains(string(text), key.name+"=") {
				t.Errorf("the page does not say what %s is", key.name)
			}
		}
		seen[line[1]] = true
	}
	if len(seen) != len(kinds) {
		t.Errorf("the page shows %v", seen)
	}
	body, err := applyTemplate(regexp.MustCompile(`(?m)^\{"text".*$`).FindString(string(text)), []byte(`{"title":"x","objects":[{"name":"a"},{"name":"b"}]}`))
	if err != nil || !json.Valid(body) || !strings.Contains(string(body), `["a", "b"]`) {
		t.Errorf("the template makes %s, %v", body, err)
	}
	var cleaner v1alpha1.Cleaner
	must(t, yaml.UnmarshalStrict([]byte(strings.Split(strings.Split(string(text), "```yaml\n")[1], "```")[0]), &cleaner))
	if len(cleaner.Spec.Notifications) != 2 || cleaner.Spec.Notifications[1].NotificationRef.Name != "slack" {
		t.Errorf("the notifications are %+v", cleaner.Spec.Notifications)
	}
}

func hasKey(c channel, name string) bool {
	for _, key := range c.keys {
		if key.name == name {
			return true
		}
	}
	return false
}
