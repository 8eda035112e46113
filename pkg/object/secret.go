// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// minSecret is the length in bytes from which on a Secret's value is hidden. Shorter ones are part of any text.
const minSecret = 6

// IsSecret reports whether the object is a Secret of the core group.
func (o Object) IsSecret() bool { return o.Kind.Group == "" && o.Kind.Kind == "Secret" }

// Mask replaces the values of those of the objects that are Secrets in a text that may leave the operator, such as a
// script's message or a server's answer: as they are, and as base64.
func Mask(text string, objects ...Object) string {
	if text == "" {
		return text
	}
	return Masker(objects...)(text)
}

// Masker is Mask for many texts.
func Masker(objects ...Object) func(text string) string {
	var values []string
	for _, o := range objects {
		if !o.IsSecret() {
			continue
		}
		of, ok := secretValues(o)
		if !ok {
			return func(string) string { return "(left out: the Secret cannot be read)" }
		}
		values = append(values, of...)
	}
	// The longest first: one value may be a part of another.
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	values = slices.Compact(values)
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, "******")
	}
	if len(pairs) == 0 {
		return func(text string) string { return text }
	}
	return strings.NewReplacer(pairs...).Replace
}

func secretValues(o Object) (values []string, ok bool) {
	var secret struct {
		Data map[string]string `json:"data"`
	}
	if json.Unmarshal(o.Raw, &secret) != nil {
		return nil, false
	}
	for _, encoded := range secret.Data {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			continue
		}
		for _, value := range []string{encoded, strings.TrimRight(encoded, "="), string(decoded), strings.TrimSpace(string(decoded))} {
			if len(value) >= minSecret {
				values = append(values, value)
			}
		}
	}
	return values, true
}
