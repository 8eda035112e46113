// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
)

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

// Patch stands for what a merge patch would put into the object, for Mask: those values need not be in the object.
func (o Object) Patch(patch JSON) Object {
	if !o.IsSecret() || len(patch) == 0 {
		patch = JSON("{}")
	}
	return Object{Kind: o.Kind, Raw: patch}
}

// Masker is Mask for many texts.
func Masker(objects ...Object) func(text string) string {
	values := NewSecretValues(math.MaxInt)
	for _, o := range objects {
		values.Add(o)
	}
	return values.Masker()
}

// secretValues are the values in a Secret, each as it is in the container that mounts it.
func secretValues(o Object) (values []string, ok bool) {
	var secret struct {
		Metadata struct {
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	decoder := json.NewDecoder(bytes.NewReader(o.Raw))
	decoder.UseNumber()
	if decoder.Decode(&secret) != nil {
		return nil, false
	}
	// kubectl apply leaves the values that it set in an annotation: those of before, where they were changed since.
	if applied, ok := secret.Metadata.Annotations["kubectl.kubernetes.io/last-applied-configuration"].(string); ok {
		before := Object{Raw: []byte(applied)}
		if of, ok := secretValues(before); ok {
			values = append(values, of...)
		} else {
			values = append(values, applied)
		}
	}
	for _, value := range secret.Data {
		for _, text := range leaves(value) {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err == nil {
				values = append(values, string(decoded))
			}
			if err != nil ||
				strings.ContainsAny(text, "\r\n") { // a patch may have what the API server refuses and quotes, or writes otherwise
				values = append(values, text)
			}
		}
	}
	for _, value := range secret.StringData {
		values = append(values, leaves(value)...)
	}
	return values, true
}

// leaves are the texts and numbers in a value, which in a patch need not be a text.
func leaves(value any) []string {
	var found []string
	switch value := value.(type) {
	case string:
		found = append(found, value)
	case json.Number:
		found = append(found, value.String())
	case map[string]any:
		for _, inner := range value {
			found = append(found, leaves(inner)...)
		}
	case []any:
		for _, inner := range value {
			found = append(found, leaves(inner)...)
		}
	}
	return found
}

// maskedError is an error whose text was cleaned of the values of Secrets.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// MaskError says of which field an error is, in a text that the mask has cleaned. The error itself can still be asked
// for its type.
func MaskError(mask func(string) string, field string, err error) error {
	return &maskedError{mask(field + ": " + err.Error()), err}
}
