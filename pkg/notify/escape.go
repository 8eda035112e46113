// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"html"
	"strings"
	"unicode"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// clean makes one line of a text that anybody may have written: no control characters, which terminals and mail headers
// obey, and none that are not seen or turn the direction of reading around.
func clean(text string) string {
	line := strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r <= '~': // almost all
			return r
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(line)
}

// markup is how a service writes bold text and code, and what it needs escaped.
type markup struct {
	escape func(text string) string
	// bold and code take escaped text.
	boldBefore, boldAfter string
	codeBefore, codeAfter string
	// inCode is what escape is in code. Nil stands for escape.
	inCode func(text string) string
	bullet string
	// link makes a link of a text of ours. The address has nothing that needs escaping. Nil stands for the text and the
	// address behind it, of which mails make a link.
	link func(text, address string) string
}

// maxEscaped is how much longer than the text before it an escaped text may be, so that a limit can be kept.
const maxEscaped = 2

// text escapes a text and keeps it within a number of bytes, before escaping, and twice that after it.
func (m markup) text(text string, limit int) string { return bounded(m.escape, text, limit) }

func (m markup) bold(text string, limit int) string {
	return m.boldBefore + bounded(m.escape, text, limit) + m.boldAfter
}

func (m markup) code(text string, limit int) string {
	escape := m.inCode
	if escape == nil {
		escape = m.escape
	}
	return m.codeBefore + bounded(escape, text, limit) + m.codeAfter
}

func bounded(escape func(string) string, text string, limit int) string {
	text = v1alpha1.Truncate(
		clean(v1alpha1.Truncate(text, 4*limit)),
		limit,
	) // a text may be long, and is rendered more than once
	escaped := escape(text)
	for size := len(text); len(escaped) > maxEscaped*limit; {
		size = size * 3 / 4
		escaped = escape(v1alpha1.Truncate(text, size))
	}
	return escaped
}

// plainText is that of mails.
func plainText() markup {
	return markup{escape: func(text string) string { return text }, bullet: "- "}
}

// escapeHTML leaves no tag and no entity.
func escapeHTML(text string) string { return html.EscapeString(text) }

// escapeMarkdown puts a backslash before what could make a text more than a text: formatting, links, mentions,
// headings.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\`*_~[]<>#|@&!", r) || i == 0 && strings.ContainsRune("-+=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escapeSlack is what Slack asks for: nothing else begins a link or a mention.
func escapeSlack(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// noTicks keeps a text within its code.
func noTicks(text string) string { return strings.ReplaceAll(text, "`", "'") }
