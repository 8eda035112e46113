// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretKind = Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Namespaced: true}

// naively says of each byte of a text whether it is to be hidden, by comparing it with all forms and lines of all values.
func naively(values []string, text string) []bool {
	hide := make([]bool, len(text))
	at := func(i, n int) {
		for k := range n {
			hide[i+k] = true
		}
	}
	for _, value := range values {
		for _, form := range forms {
			whole := form(value)
			for i := range len(text) {
				n := commonPrefix(text[i:], whole)
				if n >= minSecret && (n == len(whole) || n == len(text)-i) || n >= headSize {
					at(i, n)
				}
			}
		}
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			for i := 0; len(line) >= minLine && strings.Contains(value, "\n") && i+len(line) <= len(text); i++ {
				if text[i:i+len(line)] == line {
					at(i, len(line))
				}
			}
		}
	}
	return hide
}

// hides says the same of what was built to be small.
func (v *SecretValues) hides(text string) []bool {
	hide := make([]bool, len(text))
	for i := 0; i+minSecret <= len(text); i++ {
		for k := range max(v.valueAt(text[i:]), v.lineAt(text[i:])) {
			hide[i+k] = true
		}
	}
	return hide
}

// someValues are values that are much alike, with all that has forms of its own.
func someValues(random *rand.Rand) []string {
	piece := func() string {
		pieces := []string{"a", "b", "ab", "secret", " ", "\n", "\t", "<&>", `"\`, "é", "世界", "\xff", "\u2028", strings.Repeat("x", random.IntN(40)), "\n  key: "}
		return pieces[random.IntN(len(pieces))]
	}
	common := ""
	for range random.IntN(20) {
		common += piece()
	}
	values := make([]string, 1+random.IntN(4))
	for i := range values {
		values[i] = common
		for range random.IntN(12 << random.IntN(5)) {
			values[i] += piece()
		}
	}
	return values
}

// someText has parts of the values' forms in it.
func someText(random *rand.Rand, values []string) string {
	text := ""
	for range 1 + random.IntN(5) {
		part := forms[random.IntN(len(forms))](values[random.IntN(len(values))])
		from, to := 0, len(part)
		switch random.IntN(4) {
		case 0:
			to = random.IntN(len(part) + 1)
		case 1:
			from = random.IntN(len(part) + 1)
			to = from + random.IntN(len(part)-from+1)
		}
		text += []string{"", " ", "is ", "=", "a", "\n"}[random.IntN(6)] + part[from:to]
	}
	return text
}

// TestSecretValuesHideAsNaively: what is kept in a small form finds the same as a comparison with all that there is. Where less is kept of
// a value than a text is long, more may be hidden, and never less.
func TestSecretValuesHideAsNaively(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		values := someValues(random)
		all, few := NewSecretValues(math.MaxInt), NewSecretValues(60+random.IntN(200))
		for _, value := range values {
			all.add(value)
			few.add(value)
		}
		all.Masker()
		few.Masker()
		for range 4 {
			checkHides(t, values, someText(random, values), all, few)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

func FuzzSecretValues(f *testing.F) {
	f.Add("hunter2hunter2", "-----BEGIN KEY-----\nMIIabcdefgh\n", "it is hunter2hunter2 and MIIabcdefgh", 0)
	f.Add("  \n\"é<&>\xff and more", "", `it is \"\u00e9\u003c`, 3)
	f.Fuzz(func(t *testing.T, first, second, text string, seed int) {
		values := []string{first, second}
		all, few := NewSecretValues(math.MaxInt), NewSecretValues(30)
		for _, value := range values {
			all.add(value)
			few.add(value)
		}
		all.Masker()
		few.Masker()
		checkHides(t, values, text, all, few)
		checkHides(t, values, someText(rand.New(rand.NewPCG(uint64(seed), 0)), values), all, few)
	})
}

func checkHides(t *testing.T, values []string, text string, all, few *SecretValues) {
	t.Helper()
	want, exactly, roughly := naively(values, text), all.hides(text), few.hides(text)
	for i := range len(text) {
		if exactly[i] != want[i] {
			t.Fatalf("byte %d is hidden: %t, want %t\ntext %q\nvalues %q", i, exactly[i], want[i], text, values)
		}
		if want[i] && !roughly[i] {
			t.Fatalf("byte %d is not hidden when %d bytes of each value are kept\ntext %q\nvalues %q", i, few.most, text, values)
		}
	}
	shown := strings.Split(all.mask(text), hidden)
	for i := range len(text) { // in their order, the bytes that are not hidden
		if want[i] {
			continue
		}
		for shown[0] == "" {
			shown = shown[1:]
		}
		if shown[0][0] != text[i] {
			t.Fatalf("byte %d is missing\ntext %q\nmasked %q", i, text, all.mask(text))
		}
		shown[0] = shown[0][1:]
	}
	if rest := strings.Join(shown, ""); rest != "" {
		t.Fatalf("there is %q too much\ntext %q\nvalues %q", rest, text, values)
	}
}

// secretOf is a Secret with so many values of a size.
func secretOf(name string, values, size int) Object {
	var data []string
	for i := range values {
		value := make([]byte, size)
		for k := range value {
			value[k] = byte('!' + (k*7+k*k*31+i*13+len(name)*len(name))%90)
			if k%65 == 64 {
				value[k] = '\n'
			}
		}
		copy(value, fmt.Sprintf("%s/%d", name, i))
		data = append(data, fmt.Sprintf(`"key-%d":%q`, i, base64.StdEncoding.EncodeToString(value)))
	}
	return Object{Kind: secretKind, Raw: []byte(`{"metadata":{},"data":{` + strings.Join(data, ",") + `}}`)}
}

// TestSecretValuesAreSmall: with 5 MiB of Secrets, of few large values or many small ones, what is kept of them is less than they are, and
// what it is said to take is what it takes.
func TestSecretValuesAreSmall(t *testing.T) {
	for name, test := range map[string]struct {
		values, size int
		most         float64 // of the size of the Secrets
	}{
		"large":     {1, 700 << 10, 0.25},
		"of 3 KiB":  {200, 3 << 10, 0.75},
		"passwords": {10_000, 32, 2},
	} {
		t.Run(name, func(t *testing.T) {
			secrets := 0
			before := heapSize()
			v := NewSecretValues(1536)
			for i := 0; secrets < 5<<20; i++ {
				one := secretOf(fmt.Sprint("secret-", i), test.values, test.size)
				v.Add(one)
				secrets += len(one.Raw)
			}
			mask := v.Masker()
			took := heapSize() - before
			t.Logf("%.2f MiB of heap for each MiB of Secrets, %.2f are counted", float64(took)/float64(secrets), float64(v.Bytes())/float64(secrets))
			if got := float64(took) / float64(secrets); got > test.most {
				t.Errorf("it takes %.2f times as much as the Secrets, want at most %.2f", got, test.most)
			}
			if counted := float64(v.Bytes()) / float64(took); counted < 0.8 || counted > 1.5 {
				t.Errorf("it takes %d bytes and says %d", took, v.Bytes())
			}
			if got := mask("it is secret-0/0 and so on"); got == "" {
				t.Error(got)
			}
			runtime.KeepAlive(v)
		})
	}
}

func heapSize() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestSecretValuesInManySecrets are kept once: each namespace has the same certificate authority.
func TestSecretValuesInManySecrets(t *testing.T) {
	v := NewSecretValues(1536)
	v.Add(secretOf("one", 3, 2000))
	before := v.Bytes()
	for range 100 {
		v.Add(secretOf("one", 3, 2000))
	}
	if v.Bytes() != before {
		t.Errorf("%d bytes, and before %d", v.Bytes(), before)
	}
}

// BenchmarkMask shows what a text costs that has nothing to hide in it, and one that begins as all of 25,000 values do.
func BenchmarkMask(b *testing.B) {
	v := NewSecretValues(1536)
	for i := range 25_000 {
		v.add(fmt.Sprintf("-----BEGIN CERTIFICATE-----\nMIIC%030d", i))
	}
	mask := v.Masker()
	for name, text := range map[string]string{
		"nothing": "no Pod, no Ingress and no ServiceAccount names it, and it is more than thirty days old",
		"alike":   "-----BEGIN CERTIFICATE-----",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mask(text)
			}
		})
	}
}
