// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// maxPatterns is how many patterns are kept of a namespace. Beyond it, any name counts as mentioned there.
	maxPatterns = 10_000
	// anyText stands in an expanded text for what nobody knows. It stands in no JSON.
	anyText = '\x01'
	// maxExpanded is how long a text may become, and maxNested how deep a variable may stand in others. maxReplaced is how
	// many variables are replaced in all texts of a container; a long value counts as several. maxVariable is how long one
	// is in a text, with its default, and a command in a text.
	maxExpanded = 1 << 16
	maxNested   = 8
	maxReplaced = 10_000
	maxVariable = 1 << 15
	// shortestRest is how long the rest of a word beside a variable must be, if a dash or a dot separates them.
	shortestRest = 2
)

// environment is what is known of the variables of a container.
type environment struct {
	values map[string][]byte
	// replaced is how many variables were replaced. It has a limit: a few that stand in each other could take hours.
	replaced int
}

// isExhausted reports whether too many variables were replaced to replace another one.
func (e *environment) isExhausted() bool { return e.replaced >= maxReplaced }

// environmentOf are the variables whose values stand in the container. What comes from elsewhere is not known.
func environmentOf(container object.JSON) *environment {
	env := &environment{values: map[string][]byte{}}
	for variable := range container.Field("env").Elements() {
		if variable.Field("valueFrom").Type() == object.Absent {
			env.values[variable.Field("name").Text()] = contentOf(variable.Field("value"))
		}
	}
	return env
}

// contentOf is what stands between the quotes of a JSON string, as it is written.
func contentOf(text object.JSON) []byte {
	if text.Type() != object.String {
		return nil
	}
	return text[1:endOfString(text, 0)]
}

// addExpanded adds a text of a container with the values of its variables: Kubernetes knows $(NAME), shells $NAME and
// ${NAME}.
func (w *walker) addExpanded(text object.JSON) {
	content := contentOf(text)
	if !bytes.ContainsAny(content, "$`'\\") {
		return
	}
	if w.environment == nil {
		w.environment = environmentOf(w.container)
	}
	expanded := w.environment.expand([]byte{'"'}, content, 0)
	if w.environment.isExhausted() {
		w.text(text, nil)
	}
	w.text(text, append(appendServices(expanded, content), '"'))
}

// expand adds the text with the values of its variables. The quotes of a shell, as in "$APP"-settings, join what stands
// beside them.
func (e *environment) expand(to, text []byte, depth int) []byte {
	for len(text) > 0 {
		if quote := quoteAt(text); quote > 0 {
			text = text[quote:]
			continue
		}
		name, length := variableIn(text)
		value, known := e.values[name]
		switch {
		case length <= 1 && isTooLong(text):
			e.replaced = maxReplaced
			return append(to, anyText)
		case length == 0:
			to, text = append(to, text[0]), text[1:]
			continue
		case known && depth < maxNested && len(to) < maxExpanded && !e.isExhausted():
			e.replaced += 1 + len(value)/64
			to = e.expand(to, value, depth+1)
		default:
			to = append(to, anyText)
		}
		text = text[length:]
	}
	return to
}

// isTooLong reports whether a text begins with a variable or a command whose end was not looked for.
func isTooLong(text []byte) bool {
	return len(text) > maxVariable && (text[0] == '`' || text[0] == '$' && (text[1] == '(' || text[1] == '{'))
}

// appendServices adds the names of the Services whose addresses a text asks for: Kubernetes gives them to Pods in
// variables, such as ORDERS_SERVICE_HOST.
func appendServices(to, text []byte) []byte {
	for _, suffix := range []string{"_SERVICE_HOST", "_SERVICE_PORT"} {
		for rest := text; ; {
			before, after, found := bytes.Cut(rest, []byte(suffix))
			if !found {
				break
			}
			name := before[bytes.LastIndexFunc(before, func(r rune) bool { return !isInVariable(byte(r)) })+1:]
			to = append(append(to, ' '), strings.ToLower(strings.ReplaceAll(string(name), "_", "-"))...)
			rest = after
		}
	}
	return to
}

// quoteAt is how long the quote is that a text begins with, as JSON writes it, or the backslash of a shell, with the
// end of the line that it takes away. It is 0 where there is none.
func quoteAt(text []byte) int {
	switch {
	case text[0] == '\'':
		return 1
	case bytes.HasPrefix(text, []byte(`\\\n`)):
		return 4
	case bytes.HasPrefix(text, []byte(`\"`)), bytes.HasPrefix(text, []byte(`\\`)):
		return 2
	}
	return 0
}

// variableIn is the variable that a text begins with, and how long it is there. The length is 0 where there is none.
func variableIn(text []byte) (name string, length int) {
	text = text[:min(len(text), maxVariable)]
	if text[0] == '`' { // `date +%u`
		return "", 2 + bytes.IndexByte(text[1:], '`')
	}
	if len(text) < 2 || text[0] != '$' {
		return "", 0
	}
	isEnd := func(c byte) bool { return !isInVariable(c) }
	closing, opened := map[byte]byte{'(': ')', '{': '}'}[text[1]]
	if !opened {
		rest := text[1:]
		if end := slices.IndexFunc(rest, isEnd); end >= 0 {
			rest = rest[:end]
		}
		return string(rest), min(len(rest), 1) + len(rest)
	}
	end := bytes.IndexByte(text, closing)
	if end < 0 {
		return "", 0
	}
	inside := text[2:end]
	if closing == '}' {
		if after := slices.IndexFunc(inside, isEnd); after >= 0 && !bytes.HasPrefix(inside[after:], []byte(":-")) {
			return "", end + 1 // ${NAME,,} and the like is another text than the value
		} else if after >= 0 { // ${NAME:-default}
			inside = inside[:after]
		}
	}
	return string(inside), end + 1
}

func isInVariable(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// patternOf is a word of an expanded text as a pattern. Without anything that nobody knows, it is the word.
func patternOf(word []byte) string { return strings.ReplaceAll(string(word), string(anyText), "*") }

// addPattern takes a word with something in it that nobody knows. The rest must say something: one that is a variable
// alone does not, but "-db" after it does.
func (m *mentions) addPattern(namespace, pattern string) {
	length := len(strings.Trim(strings.ReplaceAll(pattern, "*", ""), "-."))
	if length < shortestRest || length < shortestMention && !isSeparate(pattern) {
		return
	}
	m.keepPattern(namespace, pattern)
}

// addAny takes note that any name may be mentioned in a namespace, and any that is cluster-scoped.
func (m *mentions) addAny(namespace string) { m.keepPattern(namespace, "*") }

func (m *mentions) keepPattern(namespace, pattern string) {
	if m.patterns == nil {
		m.patterns = map[string]map[string]struct{}{}
	}
	for _, in := range []string{namespace, "*"} {
		kept := m.patterns[in]
		_, anyName := kept["*"]
		_, known := kept[pattern]
		switch {
		case anyName || known:
			continue
		case pattern == "*" || len(kept) >= maxPatterns:
			m.patterns[strings.Clone(in)] = map[string]struct{}{"*": {}}
			continue
		case kept == nil:
			kept = map[string]struct{}{}
			m.patterns[strings.Clone(in)] = kept
			m.bytes += int64(64 + len(in))
		}
		kept[pattern] = struct{}{}
		m.bytes += int64(64 + len(pattern))
	}
}

// isSeparate reports whether a dash or a dot stands beside what nobody knows in a pattern.
func isSeparate(pattern string) bool {
	return slices.ContainsFunc([]string{"*-", "-*", "*.", ".*"}, func(mark string) bool {
		return strings.Contains(pattern, mark)
	})
}

// isLikePattern reports whether a word with something in it that nobody knows may be a name.
func (m *mentions) isLikePattern(namespace, name string) bool {
	for pattern := range m.patterns[namespace] {
		if like(pattern, name) {
			return true
		}
	}
	return false
}
