// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// eachWord visits all strings of a custom resource that could be names, or hold some between marks, as in
// "k8s://shop/key" and "env:PASSWORD,secret:db-login", whatever their fields are called. Of longer texts, such as
// scripts and templates, it visits the words that eachTelling does: others say nothing. A key of a map may be a name,
// too, but one word may as well be the name of a field. Of the metadata it is only the annotations: labels and owners
// are of something else. at is where the word stands.
func eachWord(o object.JSON, inventory bool, visit func(at, word object.JSON)) {
	for name, value := range o.Fields() {
		if !name.Is("metadata") {
			if !name.Is("status") {
				eachWordIn(value, true, visit)
			} else if !inventory {
				eachWordIn(value, false, visit) // which has times, digests and messages
			}
			continue
		}
		for name, annotation := range value.Field("annotations").Fields() {
			if !isRepeated(name) {
				eachWordIn(annotation, true, visit)
			}
		}
	}
}

// ofImages are fields of images, which are in no cluster.
var ofImages = []string{`"image"`, `"repository"`, `"imageRepository"`, `"newName"`}

// eachWordIn visits those in a value: with marks also those between marks, but not in the fields of images.
func eachWordIn(value object.JSON, marks bool, visit func(at, word object.JSON)) {
	isImage := false
	for i := 0; i < len(value); i++ {
		if value[i] != '"' {
			continue
		}
		begin := i
		end := endOfString(value, begin)
		marks := marks && !isImage
		isWord := isWord(value[begin+1:end], marks)
		isImage = slices.Contains(ofImages, string(value[begin:min(end+1, len(value))]))
		isKey := end < len(value) && bytes.HasPrefix(bytes.TrimLeft(value[end+1:], " \t\r\n"), []byte(":"))
		switch {
		case isWord && (!isKey || bytes.ContainsAny(value[begin:end], "-.")):
			visit(value[begin:], value[begin:])
		case !isWord && marks && !isKey:
			eachTelling(value[begin:], visit)
		}
		i = end
	}
}

// eachTelling visits the words of a text that say something, with the namespaces that stand before them: those with a
// dash, those that are settings of an object, as in "existingSecret: login", those with a slash and another word before
// them, which may be their namespace, and the hosts of Services.
func eachTelling(text object.JSON, visit func(at, word object.JSON)) {
	eachToken(text, &tokenParts, func(before token, word []byte) {
		namespace := before.qualifier()
		isQualified := len(namespace) > 0 && before.gap[0] == '/' && len(word) >= shortestMention
		if !isQualified && !bytes.ContainsRune(bytes.Trim(word, "-."), '-') && !before.isSettingOfObject() &&
			!bytes.Contains(word, []byte(".svc")) {
			return
		}
		whole := append(make(object.JSON, 0, len(namespace)+len(word)+3), '"')
		if len(namespace) > 0 {
			whole = append(append(whole, namespace...), '/')
		}
		visit(text, append(append(whole, word...), '"'))
	})
}

// token is the token before another one, and what stands between the two. Empty before the first.
type token struct{ word, gap []byte }

// qualifier is the token where only a slash or a colon follows it: it may be the namespace or the kind of the next.
func (t token) qualifier() []byte {
	if len(t.gap) == 1 && (t.gap[0] == '/' || t.gap[0] == ':') {
		return t.word
	}
	return nil
}

// settingsOfObjects are in the names of settings whose values are names of objects.
var settingsOfObjects = []string{"secret", "configmap", "claim", "pvc", "account", "credential", "existing"}

// isSettingOfObject reports whether the token is such a setting, in YAML, in JSON or in a properties file.
func (t token) isSettingOfObject() bool {
	if !bytes.ContainsAny(t.gap, ":=") || bytes.ContainsFunc(t.gap, isOutsideValue) {
		return false
	}
	word := strings.ToLower(string(t.word))
	return slices.ContainsFunc(settingsOfObjects, func(part string) bool { return strings.Contains(word, part) })
}

// endOfString is where the string ends that begins at a quote.
func endOfString(value object.JSON, begin int) (end int) {
	for end = begin + 1; end < len(value) && value[end] != '"'; end++ {
		if value[end] == '\\' {
			end++
		}
	}
	return min(end, len(value))
}

// isWord reports whether a text could be a name, or a namespace and a name. With marks, it may also have names
// between marks. What has spaces is for people.
func isWord(text object.JSON, marks bool) bool {
	switch {
	case len(text) > maxName:
		return false
	case marks:
		return bytes.IndexFunc(text, isInNeither) < 0
	}
	return bytes.IndexFunc(text, isOutsideName) < 0 && bytes.Count(text, []byte{'/'}) <= 1
}

// isOutsideName reports whether a rune cannot be in a name, or in a namespace and a name.
func isOutsideName(r rune) bool { return r != '/' && (r >= utf8.RuneSelf || !isNamePart(byte(r))) }

// isInNeither reports whether a rune is in no name, and in nothing else that stands between marks.
func isInNeither(r rune) bool {
	return isOutsideName(r) && !strings.ContainsRune(":=,_", r) && !isCapital(r)
}

// EachName visits the words of the JSON string that the text begins with that could be names of objects of the
// namespace. With a word and a slash before it, a word may also be a name in another namespace: isWhole says that the
// namespace stands so before it.
func EachName(namespace string, text object.JSON, visit func(namespace string, word []byte, isWhole bool)) {
	eachSmall(text, func(last token, word []byte) {
		before := last.qualifier()
		visitName(namespace, string(before), word, func(namespace string, word []byte) {
			namespace = strings.TrimSuffix(namespace, shortName)
			visit(namespace, word, len(before) > 0 && namespace == string(before))
		})
	})
}

// eachName is EachName, and marks the namespace of a short name with shortName.
func eachName(namespace string, text object.JSON, visit func(namespace string, word []byte)) {
	eachSmall(text, func(before token, word []byte) { visitName(namespace, string(before.qualifier()), word, visit) })
}

// eachSmall visits the tokens without capital letters. Of the others, it visits the parts between dots that have a
// dash, as in login-page.dbPassword: those without are names of fields and classes.
func eachSmall(text object.JSON, visit func(before token, word []byte)) {
	eachToken(text, &tokenParts, func(before token, word []byte) {
		if !bytes.ContainsFunc(word, isCapital) {
			visit(before, word)
			return
		}
		for part := range bytes.SplitSeq(word, []byte{'.'}) {
			if bytes.ContainsRune(bytes.Trim(part, "-"), '-') && !bytes.ContainsFunc(part, isCapital) {
				visit(token{}, part)
			}
		}
	})
}

// eachRoleName visits the words that only RBAC objects may be called: with colons, capital letters or underscores.
// What stands before a colon may be the kind.
func eachRoleName(namespace string, text object.JSON, visit func(namespace string, word []byte)) {
	eachToken(text, &roleParts, func(last token, word []byte) {
		before := last.qualifier()
		word = bytes.Trim(word, "-.:")
		for more := true; more; _, word, more = bytes.Cut(word, []byte{':'}) {
			if len(word) > maxName || len(word) < shortestMention || bytes.IndexFunc(word, isOutsideName) < 0 {
				continue
			}
			if visit(namespace, word); len(before) > 0 {
				visit(string(before), word)
			}
		}
	})
}

// eachToken visits the tokens of the JSON string that the text begins with, each with the one before it.
func eachToken(text object.JSON, parts *[256]bool, visit func(before token, word []byte)) {
	if text.Type() != object.String {
		return
	}
	text = text[1:]
	begin, end := -1, 0 // of the token that began, and of the one before it
	var last []byte
	for i := 0; i < len(text); i++ {
		if parts[text[i]] {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 {
			visit(token{last, text[end:begin]}, text[begin:i])
			last, begin, end = text[begin:i], -1, i
		}
		switch text[i] {
		case '"':
			return
		case '\\':
			i += escaped(text[i:])
		}
	}
}

// tokenParts and roleParts are the characters of tokens with names, and of those with names of RBAC objects.
var (
	tokenParts = charactersOf(isTokenPart)
	roleParts  = charactersOf(func(c byte) bool { return isTokenPart(c) || c == ':' || c == '_' })
)

func charactersOf(is func(byte) bool) (parts [256]bool) {
	for c := range parts {
		parts[c] = is(byte(c))
	}
	return parts
}

// isTokenPart reports whether a character is in a token with a name. A capital letter is: "configMap" has none in it.
func isTokenPart(c byte) bool { return isNamePart(c) || isCapital(rune(c)) }

func isCapital(r rune) bool { return r >= 'A' && r <= 'Z' }

// escaped is how many characters after a backslash stand for one, which is in no name: \n, and \u003c, which is <.
func escaped(text object.JSON) int {
	if len(text) > 1 && text[1] == 'u' {
		return 5
	}
	return 1
}

func isNamePart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == anyText
}
