// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

const (
	// minSecret is the length in bytes from which on a Secret's value is hidden. Shorter ones are part of any text.
	minSecret = 6
	// minLine is that of one line of a value.
	minLine = 8
	// headSize is how many bytes of a long value give it away: texts are cut, and the beginning of a key is a secret too.
	headSize = 16
	// hidden stands in the place of a value.
	hidden = "******"
	// unreadable stands in the place of a text in which it is unknown what is secret.
	unreadable = "(left out: the Secret cannot be read)"
)

// SecretValues are the values of Secrets, kept to hide them in texts. What is hidden is each value of at least
// minSecret bytes in any of its forms; its beginning, if that is at least headSize bytes long or stands at the end of
// the text; and each line of at least minLine bytes.
//
// It is small where values are large: it keeps only their beginnings, and hashes of their lines. The rest of a text is
// hidden where it goes on as a value does, further than what is kept. It is not safe for concurrent use.
type SecretValues struct {
	// most is how many bytes are kept of a value.
	most int
	kept []string
	// heads are hashes of how the forms of the values begin, each with the place of its value in kept behind it.
	heads []uint64
	lines []secretLine
	// known are hashes of the values, each of which may be in many Secrets.
	known map[uint64]struct{}
	seed  maphash.Seed
	// bytes is how long the kept texts are together.
	bytes      int
	unreadable bool
}

// secretLine is a line of a value: YAML indents them, so that the value as a whole is not found.
type secretLine struct{ head, size, sum uint32 }

// NewSecretValues is empty. It keeps so many bytes of each value: as much as texts are long, for those in which values
// are hidden exactly.
func NewSecretValues(most int) *SecretValues {
	return &SecretValues{
		most:  most / 3 * 3,
		known: map[uint64]struct{}{},
		seed:  maphash.MakeSeed(),
	} // of three bytes base64 makes four
}

// Add adds the values of an object, if it is a Secret.
func (v *SecretValues) Add(o Object) {
	if !o.IsSecret() {
		return
	}
	values, ok := secretValues(o)
	v.unreadable = v.unreadable || !ok
	for _, value := range values {
		v.add(value)
	}
}

// Bytes is about how much memory it takes.
func (v *SecretValues) Bytes() int {
	const text, known = 16 + 8, 20 // a string and what its memory is rounded up by, an entry of a map
	return v.bytes + text*cap(v.kept) + 8*cap(v.heads) + 12*cap(v.lines) + known*len(v.known)
}

func (v *SecretValues) add(value string) {
	sum := maphash.String(v.seed, value)
	if _, ok := v.known[sum]; ok {
		return
	}
	v.known[sum] = struct{}{}
	if trimmed := strings.TrimLeftFunc(value, unicode.IsSpace); len(value) > v.most && len(trimmed) < len(value) {
		v.add(trimmed) // its beginning may be behind what is kept
	}
	v.addHeads(value[:min(len(value), v.most)])
	v.addLines(value)
}

func (v *SecretValues) addHeads(kept string) {
	var heads []uint64
	for _, form := range forms {
		if head := beginning(form, kept); len(head) >= minSecret {
			heads = append(heads, uint64(v.hash(head[:minSecret]))<<32|uint64(len(v.kept)))
		}
	}
	if len(heads) == 0 {
		return // it is too short
	}
	slices.Sort(heads)
	v.heads = append(v.heads, slices.Compact(heads)...)
	v.kept = append(v.kept, strings.Clone(kept))
	v.bytes += len(kept)
}

func (v *SecretValues) addLines(value string) {
	if !strings.Contains(value, "\n") {
		return
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			v.lines = append(
				v.lines,
				secretLine{v.hash(line[:minLine]), uint32(len(line)), v.hash(line)},
			)
		}
	}
}

func (v *SecretValues) hash(
	text string,
) uint32 {
	return uint32(maphash.String(v.seed, text))
}

// Masker returns what hides the values in texts. It is safe for concurrent use, as long as nothing is added.
func (v *SecretValues) Masker() func(text string) string {
	slices.Sort(v.heads)
	slices.SortFunc(v.lines, compareLines)
	v.lines = slices.Compact(v.lines)
	return v.mask
}

func compareLines(a, b secretLine) int {
	return cmp.Or(cmp.Compare(a.head, b.head), cmp.Compare(a.size, b.size), cmp.Compare(a.sum, b.sum))
}

// mask hides what it finds at each place of a text. What overlaps is hidden together.
func (v *SecretValues) mask(text string) string {
	if v.unreadable && text != "" {
		return unreadable
	}
	var masked strings.Builder
	done := 0 // what is before it is in masked
	for i := 0; i+minSecret <= len(text); i++ {
		end := i + max(v.valueAt(text[i:]), v.lineAt(text[i:]))
		if end <= max(i, done) {
			continue
		}
		if i >= done {
			masked.WriteString(text[done:i])
			masked.WriteString(hidden)
		}
		done = end
	}
	masked.WriteString(text[done:])
	return masked.String()
}

// valueAt is how much of a text that begins as a form of a value is to be hidden.
func (v *SecretValues) valueAt(text string) int {
	head := uint64(v.hash(text[:minSecret])) << 32
	first, _ := slices.BinarySearch(v.heads, head)
	longest := 0
	for _, entry := range v.heads[first:] {
		if entry>>32 != head>>32 {
			break
		}
		for _, form := range forms {
			longest = max(longest, v.common(text, v.kept[uint32(entry)], form))
		}
	}
	return longest
}

// common is how much of the beginning of a text is to be hidden because of one form of a value.
func (v *SecretValues) common(text, kept string, form form) int {
	for size := firstPart; ; size *= 4 {
		part := form(kept[:min(size, len(kept))])
		common := commonPrefix(text, part)
		isWhole, mayGoOn := size >= len(kept), common+unsure >= len(part)
		switch {
		case common >= minSecret && common == len(text):
			return common
		case !isWhole && mayGoOn:
			continue
		case common < minSecret:
			return 0
		case mayGoOn && len(kept) >= v.most:
			return len(text) // what follows was not kept
		case isWhole && common == len(part), common >= headSize:
			return common
		}
		return 0
	}
}

// lineAt is how long the line is that a text begins with.
func (v *SecretValues) lineAt(text string) int {
	if len(text) < minLine || len(v.lines) == 0 {
		return 0
	}
	head := v.hash(text[:minLine])
	first, _ := slices.BinarySearchFunc(v.lines, secretLine{head: head}, compareLines)
	longest, size, sum := 0, uint32(0), uint32(0)
	for _, line := range v.lines[first:] {
		if line.head != head || int(line.size) > len(text) {
			break
		}
		if line.size != size {
			size, sum = line.size, v.hash(text[:line.size])
		}
		if line.sum == sum {
			longest = int(line.size)
		}
	}
	return longest
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
