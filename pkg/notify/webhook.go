// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

func webhookChannel() channel {
	return channel{
		keys: []key{
			{name: "WEBHOOK_URL", hidden: true, holds: holdsURL, isRight: isURL},
			{
				name:     "WEBHOOK_SECRET",
				optional: true,
				hidden:   true,
				holds:    "a password by which the receiver knows that the message is genuine and whole",
			},
			{
				name:     "WEBHOOK_TOKEN",
				optional: true,
				hidden:   true,
				holds:    "a token for the header Authorization: Bearer",
				isRight:  isWord,
			},
			{name: "WEBHOOK_TEMPLATE", optional: true, holds: "a Go template of the body"},
		},
		also: func(v values) []string {
			if _, err := parseTemplate(v.get("WEBHOOK_TEMPLATE")); err != nil {
				return []string{"WEBHOOK_TEMPLATE is not right: " + err.Error()}
			}
			return nil
		},
		send: sendWebhook,
	}
}

// sendWebhook posts the document, or what the template makes of it, with the headers of a CloudEvent in binary mode.
func sendWebhook(ctx context.Context, c *call, v values, r *report) error {
	body, err := json.Marshal(r.document)
	if err != nil {
		return permanent("the message could not be put together")
	}
	contentType := "application/json"
	if text := v.get("WEBHOOK_TEMPLATE"); text != "" {
		if body, err = applyTemplate(text, body); err != nil {
			return permanent("WEBHOOK_TEMPLATE in Secret %s cannot be applied: %s", v.secret, err)
		}
		if !json.Valid(body) {
			contentType = "text/plain; charset=utf-8"
		}
	}
	header := eventHeader(r)
	if token := v.get("WEBHOOK_TOKEN"); token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if secret := v.get("WEBHOOK_SECRET"); secret != "" {
		sum := hmac.New(sha256.New, []byte(secret))
		sum.Write(body)
		header.Set("X-KubeCleaner-Signature-256", "sha256="+hex.EncodeToString(sum.Sum(nil)))
	}
	if _, err = c.post(ctx, v.get("WEBHOOK_URL"), contentType, body, header); err != nil {
		return err
	}
	if c.status >= 300 {
		return c.explain(v.check("WEBHOOK_URL"))
	}
	return nil
}

// eventHeader are the attributes of a CloudEvent. A repeated message has the ID of the first.
func eventHeader(r *report) http.Header {
	d := r.document
	phase := strings.ToLower(string(d.Phase))
	if phase == "" {
		phase = "running"
	}
	header := http.Header{}
	for name, value := range map[string]string{
		"ce-specversion": "1.0", "ce-id": r.id, "ce-type": "com.github.kubecleaner.run." + phase,
		"ce-source":  "/apis/apps.projectsveltos.io/v1alpha1/cleaners/" + d.Cleaner,
		"ce-subject": d.Run, "ce-time": d.NominalTime.UTC().Format(time.RFC3339),
	} {
		if value != "" { // an attribute must not be empty
			header.Set(name, escapeHeader(value))
		}
	}
	return header
}

// escapeHeader is the percent-encoding of CloudEvents: of what is not printable, spaces, quotes and the percent sign.
func escapeHeader(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
