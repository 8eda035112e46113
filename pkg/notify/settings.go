// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// channel is a type of notification: what its Secret holds, and how a report is sent.
type channel struct {
	keys []key
	// also checks keys that depend on one another. It returns what is wrong, key first.
	also func(v values) []string
	send func(ctx context.Context, c *call, v values, r *report) error
}

// key is one key of a Secret.
type key struct {
	name string
	// holds says what it holds, for who forgot it.
	holds    string
	optional bool
	// hidden is true for a credential: wherever it turned up in a message, it is taken out.
	hidden bool
	// isRight is false for a value that cannot be meant. Nil takes everything.
	isRight func(value string) bool
}

// values are what a Secret holds, checked, without the line breaks that files end with.
type values struct {
	secret string
	of     map[string]string
	// mask takes every value out of a text, hide the credentials only.
	mask, hide func(string) string
}

func (v values) get(name string) string { return v.of[name] }

// or is the value or, without one, the default.
func (v values) or(name, standard string) string {
	if value := v.of[name]; value != "" {
		return value
	}
	return standard
}

// check is the hint to look at keys of the Secret.
func (v values) check(names ...string) string {
	return "check " + strings.Join(names, " and ") + " in Secret " + v.secret
}

// redact makes an Error of any error, without what the Secret holds.
func (v values) redact(err error) error {
	failure, ok := err.(*Error) //nolint:errorlint // what wraps one has words that are not ours
	if !ok {
		failure = passing("the notification could not be sent")
	}
	// The name of the Secret is what people need, and may be a part of an address in it.
	parts := strings.Split(failure.Reason, "Secret "+v.secret)
	for i := range parts {
		parts[i] = v.mask(parts[i])
	}
	safe := *failure
	safe.Reason = strings.Join(parts, "Secret "+v.secret)
	return &safe
}

// read checks all keys at once. The values can redact, also with an error.
func (c channel) read(settings Settings) (values, error) {
	v := values{secret: settings.Secret, of: map[string]string{}}
	var problems, hidden []string
	for _, key := range c.keys {
		value := strings.TrimSpace(string(settings.Keys[key.name]))
		v.of[key.name] = value
		if key.hidden && len(value) >= minHidden {
			hidden = append(hidden, value, "(hidden)")
		}
		_, has := settings.Keys[key.name]
		if problem := key.problem(value, has); problem != "" {
			problems = append(problems, problem)
		}
	}
	v.hide = strings.NewReplacer(hidden...).Replace
	v.mask = masker(settings.Keys)
	if c.also != nil {
		problems = append(problems, c.also(v)...)
	}
	if unknown := c.unknown(settings); len(problems) > 0 && unknown != "" {
		problems = append(problems, "it has keys that are not used: "+unknown)
	}
	if len(problems) > 0 {
		return v, permanent("Secret %s: %s", settings.Secret, strings.Join(problems, "; "))
	}
	return v, nil
}

// problem says what is wrong with a value. Empty when nothing is.
func (k key) problem(value string, has bool) string {
	switch {
	case value == "" && k.optional:
	case !has:
		return k.name + " is missing: it holds " + k.holds
	case value == "":
		return k.name + " is empty: it holds " + k.holds
	case k.isRight != nil && !k.isRight(value):
		return k.name + " is not right: it holds " + k.holds
	}
	return ""
}

// unknown are the keys of a Secret that the channel does not know, for who mistyped one.
func (c channel) unknown(settings Settings) string {
	names := slices.Sorted(maps.Keys(settings.Keys))
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(c.keys, func(k key) bool { return k.name == name })
	})
	return v1alpha1.Truncate(strings.Join(names, ", "), 200)
}

// minHidden is from how many bytes on a value is taken out: a shorter one is part of any text.
const minHidden = 6

// masker takes everything that a Secret holds out of a text, also when it is cut or encoded, and the parts of
// addresses.
func masker(keys map[string][]byte) func(string) string {
	parts := map[string]string{}
	for name, value := range keys {
		text := strings.TrimSpace(string(value))
		parts[name] = text
		if address, err := url.Parse(text); err == nil && address.Host != "" {
			parts[name+" host"], parts[name+" path"], parts[name+" query"] = address.Host, address.EscapedPath(),
				address.RawQuery
		}
	}
	raw, err := json.Marshal(map[string]any{"data": keys, "stringData": parts})
	if err != nil {
		return func(string) string { return "(left out)" }
	}
	return object.Masker(
		object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: raw},
	)
}

// isURL reports whether a value is the address of a service.
func isURL(value string) bool {
	address, err := url.Parse(value)
	return err == nil && (address.Scheme == "https" || address.Scheme == "http") && address.Hostname() != ""
}

// isWord reports whether a value can stand in a header: tokens and numbers of channels can.
func isWord(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}

const holdsURL = "the address of the service, which begins with https:// or http://"

// apiURL is the optional key with another address of a service.
func apiURL(prefix, standard string) key {
	return key{
		name:     prefix + "_API_URL",
		optional: true,
		holds:    fmt.Sprintf("%s; without it, %s", holdsURL, standard),
		isRight:  isURL,
	}
}
