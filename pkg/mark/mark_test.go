// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package mark_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

var created = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	ttl      = "cleaner/ttl"
	expires  = "cleaner/expires"
	janitor  = "janitor/ttl"
	janitorX = "janitor/expires"
	twin     = "k8s-ttl-controller.twin.sh/ttl"
	kyverno  = "cleanup.kyverno.io/ttl"
	mayfly   = "mayfly.cloud.namecheap.com/expire"
	reaper   = "pod.kubernetes.io/lifetime"
)

func marked(key, text string) mark.Object {
	return of(map[string]string{key: text})
}

// of is a Pod. Kyverno's mark is a label.
func of(texts map[string]string) mark.Object {
	get := func(label bool) func(string) (string, bool) {
		return func(key string) (string, bool) {
			text, ok := texts[key]
			return text, ok && label == (key == kyverno)
		}
	}
	return mark.Object{Created: created, IsPod: true, Label: get(true), Annotation: get(false)}
}

// TestForms tries every form that each tool reads. The end of a duration is told as one after the creation.
func TestForms(t *testing.T) {
	for key, forms := range map[string]map[string]string{
		ttl: {
			"90s": "1m30s", "90m": "1h30m0s", "12h": "12h0m0s", "1h30m": "1h30m0s", "7d": "168h0m0s", "2w": "336h0m0s", "1w2d3h4m5s": "219h4m5s",
			"1.5d": "36h0m0s", "0.5h": "30m0s", "0s": "0s", "250ms": "250ms", "10us": "10µs", "10µs": "10µs", "5ns": "5ns", "007d": "168h0m0s",
			"forever": "never",
			"15250w":  "2562000h0m0s",
		},
		expires: {
			"2026-03-02": "12h0m0s", "2026-03-01T12:00:01Z": "1s", "2026-03-01T13:00:00+01:00": "0s", "2026-03-01T12:00:00.5Z": "500ms",
			"2026-03-01T12:01": "1m0s",
			"2024-02-29":       "-17556h0m0s",
		},
		janitor: {
			"90s": "1m30s", "5m": "5m0s", "1h": "1h0m0s", "7d": "168h0m0s", "2w": "336h0m0s", "forever": "never", "0s": "never",
			"0w": "never",
		},
		janitorX: {"2026-03-01T12:00:01Z": "1s", "2026-03-01T12:01": "1m0s", "2026-03-02": "12h0m0s"},
		twin: {
			"90s": "1m30s", "1h30m": "1h30m0s", "1d": "24h0m0s", "1w": "168h0m0s", "1w2d3h": "219h0m0s", "1.5h": "1h30m0s", "0": "0s",
			"0s": "0s",
		},
		kyverno: {
			"10m": "10m0s", "2h": "2h0m0s", "4d": "96h0m0s", "1w": "168h0m0s", "1.5h": "1h30m0s", "1d2h": "26h0m0s", "3days": "72h0m0s",
			"1week": "168h0m0s",
			"2wk":   "336h0m0s", "1hr": "1h0m0s", "90sec": "1m30s", "5min": "5m0s", "1D": "24h0m0s", "2026-03-02": "12h0m0s",
			"2026-03-01T120001Z": "1s", "0": "0s",
		},
		mayfly: {"30s": "30s", "1h30m": "1h30m0s", "2026-03-01T12:00:01Z": "1s", "2026-03-02": "12h0m0s"},
		reaper: {"720h": "720h0m0s", "1h30m": "1h30m0s", "1ms": "1ms"},
	} {
		for text, want := range forms {
			got := mark.Read(marked(key, text))
			if len(got) != 1 {
				t.Errorf("%s: %q is %d marks", key, text, len(got))
				continue
			}
			said := got[0].Ends.Sub(created).String()
			if got[0].Never {
				said = "never"
			}
			if said != want || got[0].Err != nil || got[0].Key != key {
				t.Errorf("%s: %q ends %s (%v), want %s", key, text, said, got[0].Err, want)
			}
		}
	}
}

// TestWrongForms tries what no tool reads, or only one of the others. All of it keeps the object.
func TestWrongForms(t *testing.T) {
	const everywhere = "1x|-1h|--1h|1h |1h\n| 1h|1|90|one hour|null|true|1,5h|1e3h|99999999999999999999d|20000w|300000000h|2026-13-01|2026-02-30|2026-3-1|" +
		"2026-03-01T25:00:00Z|2026-03-01 12:00:00|01/03/2026|1772366400|Forever|never|1h-|h|٣d|P1D"
	for key, wrong := range map[string]string{
		ttl:      "|1h1|1.d|.5d|1d12|2026-03-01",
		expires:  "|forever|1h|2026-03-01T12:00:00|2026-03-01T12|2026-03-01T1:00:00Z|2026-03-01T12:00:00,5Z|2026-03-01T120000Z|2026-03-01t12:00:00z|20260301",
		janitor:  "1h30m|1.5h|1ms|2026-03-01|forever1",
		janitorX: "forever|1h|2026-03-01T12:00:00+01:00|2026-03-01T12:00:00.5Z|2026-03-01T12:00:00|2026-03-01T1:00|2026-03-01T120000Z",
		twin:     "|forever|2026-03-01",
		kyverno:  "|forever|1.5d|1d2|1-d|x10m|10m.|2026-03-01T12:00:00Z|2026-03-01T120000|2026-03-01T120000.5Z|1month|1mo|1year|1.2.3d",
		mayfly:   "|forever|7d|1w|2026-03-01T12:00|Mar 1 2026",
		reaper:   "|forever|7d|1w|0|0s|2026-03-01",
	} {
		for text := range strings.SplitSeq(everywhere+"|"+wrong, "|") {
			if text == "" && (key == janitor || key == janitorX) {
				continue
			}
			got := mark.Read(marked(key, text))
			if len(got) != 1 || got[0].Err == nil || got[0].Never || !got[0].Ends.IsZero() {
				t.Errorf("%s: %q is read as %+v", key, text, got)
			}
		}
	}
}

func TestWords(t *testing.T) {
	ageless := marked(ttl, "1h")
	ageless.Created = time.Time{}
	misread := map[string]string{twin: "1h", "k8s-ttl-controller.twin.sh/refreshed-at": "yesterday"}
	for name, test := range map[string]struct {
		of   mark.Object
		want string
	}{
		"ours": {marked(ttl, "90"), `annotation cleaner/ttl "90" cannot be read: write a duration such as 90m, 12h, 7d or 2w, or forever`},
		"a label": {
			marked(kyverno, "soon"),
			`label cleanup.kyverno.io/ttl "soon" cannot be read: write a duration such as 10m, 2h, 4d or 1w, a date such as 2026-03-01, or a time such as 2026-03-01T120000Z`,
		},
		"hostile": {
			marked(ttl, "\x1b[2J\n"),
			`annotation cleaner/ttl "\x1b[2J\n" cannot be read: write a duration such as 90m, 12h, 7d or 2w, or forever`,
		},
		"long": {marked(janitor, strings.Repeat("a", 1000)), `annotation janitor/ttl "` + strings.Repeat("a", 64) +
			`"... cannot be read: write a number and one of s, m, h, d, w, such as 7d, or forever`},
		"no age": {ageless, `annotation cleaner/ttl "1h" cannot be read: nobody knows when the object was created`},
		"no start": {
			of(misread),
			`annotation k8s-ttl-controller.twin.sh/ttl "1h" cannot be read: its time counts from annotation k8s-ttl-controller.twin.sh/refreshed-at "yesterday", which cannot be read: write a time such as 2026-03-01T12:00:00Z`,
		},
	} {
		_, ok, err := mark.Last(mark.Read(test.of))
		if ok || err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nwant %s", name, err, test.want)
		}
	}
}

func TestLast(t *testing.T) {
	const refreshed = "k8s-ttl-controller.twin.sh/refreshed-at"
	for name, test := range map[string]struct {
		texts    map[string]string
		dialects []mark.Dialect
		want     string
		wrong    int
	}{
		"none":                       {texts: map[string]string{"other": "1h"}},
		"the later one":              {texts: map[string]string{ttl: "1h", janitor: "2h"}, want: janitor + " 2h0m0s"},
		"never is the last":          {texts: map[string]string{ttl: "forever", janitor: "2h"}, want: ttl + " never"},
		"never, found first or last": {texts: map[string]string{ttl: "1h", janitor: "forever"}, want: janitor + " never"},
		"one cannot be read":         {texts: map[string]string{ttl: "1h", janitor: "soon"}, wrong: 1},
		"two cannot be read":         {texts: map[string]string{ttl: "soon", expires: "later", janitor: "1h"}, wrong: 2},
		"of one dialect": {
			texts:    map[string]string{ttl: "soon", janitor: "1h"},
			dialects: []mark.Dialect{"KubeJanitor"}, want: janitor + " 1h0m0s",
		},
		"of a dialect without marks": {texts: map[string]string{ttl: "1h"}, dialects: []mark.Dialect{"Mayfly"}},
		"counts from another time":   {texts: map[string]string{twin: "1h", refreshed: "2026-03-01T13:00:00Z"}, want: twin + " 2h0m0s"},
		"that time alone is no mark": {texts: map[string]string{refreshed: "2026-03-01T13:00:00Z"}},
		"an empty one of janitor":    {texts: map[string]string{janitor: "", janitorX: "", ttl: "1h"}, want: ttl + " 1h0m0s"},
	} {
		last, ok, err := mark.Last(mark.Of(mark.Read(of(test.texts)), test.dialects...))
		got := ""
		if ok {
			got = last.Key + " " + last.Ends.Sub(created).String()
			if last.Never {
				got = last.Key + " never"
			}
		}
		wrong := 0
		if err != nil {
			wrong = 1 + strings.Count(err.Error(), "\n")
		}
		if got != test.want || wrong != test.wrong {
			t.Errorf("%s: %q, %d wrong (%v), want %q, %d", name, got, wrong, err, test.want, test.wrong)
		}
	}
}

func TestWhoseMarksCount(t *testing.T) {
	all := map[string]string{
		ttl: "1h", expires: "2026-03-01", janitor: "1h", janitorX: "2026-03-01", twin: "1h", kyverno: "1h", mayfly: "1h",
		reaper: "1h",
	}
	for name, test := range map[string]struct {
		isPod, isOwned bool
		want           string
	}{
		"a Pod":               {true, false, "KubeCleaner KubeCleaner KubeJanitor KubeJanitor K8sTTLController Kyverno Mayfly PodReaper"},
		"another kind":        {false, false, "KubeCleaner KubeCleaner KubeJanitor KubeJanitor K8sTTLController Kyverno Mayfly"},
		"a Pod of a template": {true, true, "PodReaper"},
		"what is owned":       {false, true, ""},
	} {
		o := of(all)
		o.IsPod, o.IsOwned = test.isPod, test.isOwned
		var got []string
		for _, m := range mark.Read(o) {
			got = append(got, string(m.Dialect))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, wrong := range []map[string]string{{ttl: "1h"}, {kyverno: "1h"}} { // an annotation in the labels, and the other way round
		o := of(wrong)
		o.Label, o.Annotation = o.Annotation, o.Label
		if got := mark.Read(o); len(got) > 0 {
			t.Errorf("%v in the wrong place: %+v", wrong, got)
		}
	}
}

// TestDialects checks that each dialect of the API has marks, and that no mark has another.
func TestDialects(t *testing.T) {
	all := map[string]string{ttl: "1h", janitor: "1h", twin: "1h", kyverno: "1h", mayfly: "1h", reaper: "1h"}
	for _, dialect := range v1alpha1.MarkDialects() {
		if err := mark.Check([]mark.Dialect{mark.Dialect(dialect)}); err != nil {
			t.Error(err)
		}
		if got := mark.Of(mark.Read(of(all)), dialect); len(got) != 1 {
			t.Errorf("%s has %d marks", dialect, len(got))
		}
	}
	const want = `"kyverno" is no dialect of time marks; the dialects are [KubeCleaner KubeJanitor K8sTTLController Kyverno Mayfly PodReaper]`
	if err := mark.Check([]mark.Dialect{"kyverno"}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for key := range all {
		if !mark.IsKey(func(k string) bool { return k == key }) {
			t.Errorf("%s is no mark", key)
		}
	}
}

// FuzzRead checks that nothing panics, that a mark is in exactly one of three states, and that no duration ends before the creation.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"1h30m", "1w2d", "forever", "2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T120000Z", "9223372036854775807ns",
		"15250w1d", "1.999999999999999999d", "0", "",
	} {
		f.Add(text, "2026-03-01T12:00:00Z")
	}
	f.Fuzz(func(t *testing.T, text, refreshed string) {
		for _, key := range []string{ttl, expires, janitor, janitorX, twin, kyverno, mayfly, reaper} {
			marks := mark.Read(of(map[string]string{key: text}))
			for _, m := range append(marks, mark.Read(of(map[string]string{twin: text, "k8s-ttl-controller.twin.sh/refreshed-at": refreshed}))...) {
				states := 0
				for _, is := range []bool{m.Err != nil, m.Never, !m.Ends.IsZero()} {
					if is {
						states++
					}
				}
				if year := strings.HasPrefix(text, "0001-01-01"); states != 1 && !year {
					t.Errorf("%s: %q is in %d states: %+v", m.Key, text, states, m)
				}
				isDate := strings.Contains(text, "-") || m.Key == twin
				if m.Err == nil && !m.Never && !isDate && m.Ends.Before(created) {
					t.Errorf("%s: %q ends %s, before the creation", m.Key, text, m.Ends)
				}
			}
		}
	})
}
