// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// minSecret is the length in bytes from which on a Secret's value is hidden. Shorter ones are part of any text.
	minSecret = 6
	// minLine is that of one line of a value.
	minLine = 8
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
func (o Object) Patch(patch map[string]any) Object {
	if !o.IsSecret() || len(patch) == 0 {
		return Object{Kind: o.Kind, Raw: JSON("{}")}
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		raw = nil // which cannot be read, so that nothing of the text is shown
	}
	return Object{Kind: o.Kind, Raw: raw}
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
			return func(string) string { return unreadable }
		}
		values = append(values, of...)
	}
	return newMask(values).apply
}

// unreadable stands in the place of a text in which nobody can tell what is secret.
const unreadable = "(left out: the Secret cannot be read)"

const (
	// hidden stands in the place of a value.
	hidden = "******"
	// headSize is how many bytes of a long value tell it: texts are cut, and the beginning of a key is a secret too.
	headSize = 16
)

// mask hides values in texts.
type mask struct {
	// whole replaces values, the longest first: one may be a part of another.
	whole *strings.Replacer
	// heads are the long values, by how they begin.
	heads  map[string][]string
	values []string
	// lines replaces the lines of values, where a value as a whole is not found.
	lines *strings.Replacer
}

func newMask(values []string) mask {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	values = slices.Compact(values)
	m := mask{heads: map[string][]string{}, values: values}
	var pairs []string
	for _, value := range values {
		pairs = append(pairs, value, hidden)
		if len(value) > headSize {
			m.heads[value[:headSize]] = append(m.heads[value[:headSize]], value)
		}
	}
	m.whole, m.lines = strings.NewReplacer(pairs...), strings.NewReplacer(linesOf(values)...)
	return m
}

// linesOf are the lines of values, each with what hides it: YAML indents them, so that the value as a whole is not found.
func linesOf(values []string) (pairs []string) {
	for _, value := range values {
		if !strings.Contains(value, "\n") {
			continue
		}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				pairs = append(pairs, line, hidden)
			}
		}
	}
	return pairs
}

func (m mask) apply(text string) string {
	if len(m.values) == 0 {
		return text
	}
	return m.lines.Replace(m.beginnings(m.whole.Replace(text)))
}

// beginnings hides what is the beginning of a value.
func (m mask) beginnings(text string) string {
	for i := 0; i+headSize <= len(text); i++ {
		longest := 0
		for _, value := range m.heads[text[i:i+headSize]] {
			longest = max(longest, commonPrefix(text[i:], value))
		}
		if longest > 0 {
			text = text[:i] + hidden + text[i+longest:]
		}
	}
	// What is cut behind fewer bytes than that.
	for _, value := range m.values {
		for n := min(headSize, len(value)) - 1; n >= minSecret; n-- {
			if strings.HasSuffix(text, value[:n]) {
				return text[:len(text)-n] + hidden
			}
		}
	}
	return text
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

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
	if applied, ok := secret.Metadata.Annotations[corev1.LastAppliedConfigAnnotation].(string); ok {
		before := Object{Raw: []byte(applied)}
		if of, ok := secretValues(before); ok {
			values = append(values, of...)
		} else {
			values = append(values, formsOf(applied)...)
		}
	}
	for _, value := range secret.Data {
		for _, text := range leaves(value) {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err != nil { // a patch may have by mistake what the API server refuses, and quotes
				values = append(values, formsOf(text)...)
				continue
			}
			values = append(values, text)
			values = append(values, formsOf(string(decoded))...)
		}
	}
	for _, value := range secret.StringData {
		for _, text := range leaves(value) {
			values = append(values, formsOf(text)...)
		}
	}
	return slices.DeleteFunc(values, func(value string) bool { return len(value) < minSecret }), true
}

// formsOf is how a value may be written in a text.
func formsOf(plain string) []string {
	encoded, quoted := base64.StdEncoding.EncodeToString([]byte(plain)), strconv.Quote(plain)
	forms := []string{
		encoded, strings.TrimRight(encoded, "="), plain, strings.TrimSpace(plain), onOneLine(plain), quoted[1 : len(quoted)-1],
	}
	if written, err := json.Marshal(plain); err == nil { // as Go programs write JSON: <, > and & by their numbers
		forms = append(forms, string(written[1:len(written)-1]))
	}
	if len(plain) >= minSecret { // as Go programs print bytes
		forms = append(forms, strings.Trim(fmt.Sprintf("%d", []byte(plain)), "[]"))
	}
	return forms
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

// onOneLine is a value as messages have it.
func onOneLine(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text))
}

// maskedError is an error whose text was cleaned of the values of Secrets.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// MaskError says of which field an error is, in a text that the mask has cleaned. The error itself can still be asked for its type.
func MaskError(mask func(string) string, field string, err error) error {
	return &maskedError{mask(field + ": " + err.Error()), err}
}
