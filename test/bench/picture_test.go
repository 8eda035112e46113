// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestBars(t *testing.T) {
	took := func(d time.Duration) []sample { return []sample{{measured: measured{Wall: d}}} }
	chosen := []variant{{name: floorName}, {name: "a", target: target{ratio: 1.5}}, {name: "b", floor: "c", target: target{ratio: 2}}, {name: "no target"}, {name: "failed", target: target{ratio: 1}}}
	found := results{floorName: took(2 * time.Second), "a": took(time.Second), "b": took(3 * time.Second), "c": took(time.Second), "no target": took(time.Second)}
	want := []bar{{"a", 0.5, 1.5}, {"b", 3, 2}}
	if got := barsOf(chosen, found); !reflect.DeepEqual(got, want) {
		t.Errorf("the bars are %v, want %v", got, want)
	}
	again := bar{"a", 0.4, 1.5}
	if got := latest(append(want, again)); !reflect.DeepEqual(got, []bar{want[1], again}) {
		t.Errorf("the latest bars are %v", got)
	}
}

func TestPicture(t *testing.T) {
	text := picture([]bar{{"Lua & <all>", 0.8, 1}, {"slow", 2.4, 1.5}})
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, want := range []string{"Lua &amp; &lt;all&gt;", ">0.80<", ">2.40<", "target: 1.5"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q:\n%s", want, text)
		}
	}
}

var update = flag.Bool("update", false, "write the picture of the page on performance again")

// The picture of the page on performance shows the ratios of its table that have a target.
func TestPictureOfThePage(t *testing.T) {
	const file = "../../docs/explanation/performance.svg"
	page, err := os.ReadFile("../../docs/explanation/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	var bars []bar
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| ([\d.]+) x \|[^|]*\|[^|]*\|[^|]*\| ([\d.]+) x`)
	for _, found := range row.FindAllStringSubmatch(string(page), -1) {
		bars = append(bars, bar{strings.ReplaceAll(found[1], "`", ""), number(found[2]), number(found[3])})
	}
	if len(bars) < 10 {
		t.Fatalf("the table has only %d ratios", len(bars))
	}
	want := picture(bars)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not of the table of this page (%v): run go test ./test/bench -run TestPictureOfThePage -update", file, err)
	}
}
