// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// channelsOf are the notifications of a Cleaner.
func channelsOf(c *v1alpha1.Cleaner) []Channel {
	channels := []Channel{}
	for _, n := range c.Spec.Notifications {
		of := Channel{Cleaner: c.Name, Name: n.Name, Type: n.Type}
		if n.Type.NeedsSecret() {
			of.secret = n.NotificationRef
		}
		channels = append(channels, of)
	}
	return channels
}

// mayTest adds to each channel whether the person may send a sample, for which the page reads the Secret as the person.
func (p *person) mayTest(ctx context.Context, channels []Channel) {
	for i, of := range channels {
		if of.secret == nil {
			continue
		}
		test := p.may(ctx, call{
			Version: "v1", Verb: "get", Resource: "secrets", Namespace: of.secret.Namespace, Name: of.secret.Name,
		})
		channels[i].Test = &test
	}
}

func listChannels(r *http.Request, p *person) (int, any, error) {
	page := newPage[Channel](r)
	err := eachOf[v1alpha1.CleanerList](
		r.Context(), p, cluster.CleanerPath(""), manySmall, func(c *v1alpha1.Cleaner) {
			for _, of := range channelsOf(c) {
				page.add(of)
			}
		},
	)
	if err != nil {
		return 0, nil, err
	}
	p.mayTest(r.Context(), page.Items)
	return http.StatusOK, page, nil
}

// sampleText is what a test send says. The page sends it from its own process: what the operator's flags allow is not
// known here.
func sampleText(message string) string {
	if !strings.Contains(message, "--allowed-notification-hosts") {
		return message
	}
	return message + "\nThis page sent the sample from its own process, which does not have the operator's flags. " +
		"If the operator's flag names the host, the operator delivers: the page of a run says what became of its notifications."
}
