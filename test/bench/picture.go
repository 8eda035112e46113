// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// bar is a variant in the picture.
type bar struct {
	name string
	// ratio is its wall time as a part of its floor's, and target the most that it should be.
	ratio, target float64
}

// barsOf are the variants that have a target for their time.
func barsOf(chosen []variant, found results) (bars []bar) {
	for _, v := range chosen {
		if samples := found[v.name]; v.target.ratio > 0 && len(samples) > 0 {
			bars = append(
				bars,
				bar{v.name, median(samples, wall) / median(found[cmp.Or(v.floor, floorName)], wall), v.target.ratio},
			)
		}
	}
	return bars
}

// latest keeps the last bar of each name: of the two states, that is the quiet one.
func latest(bars []bar) []bar {
	var kept []bar
	for _, b := range bars {
		kept = slices.DeleteFunc(kept, func(k bar) bool { return k.name == b.name })
		kept = append(kept, b)
	}
	return kept
}

const (
	pictureWidth = 860
	labelWidth   = 350
	barStep      = 28
	pictureHead  = 44
)

// The background is drawn, because a page may be dark while the reader's system is light.
const pictureStyle = `.page{fill:#fff}text{font:13px system-ui,sans-serif;fill:#222}.bar{fill:#2f6fb2}.floor{stroke:#555;stroke-dasharray:4 3}.target{stroke:#c0392b;stroke-width:2}
@media(prefers-color-scheme:dark){.page{fill:#1b1b1f}text{fill:#ddd}.bar{fill:#6aa5e0}.floor{stroke:#aaa}.target{stroke:#ff7f6e}}`

// picture is an SVG with a bar for each variant: how long it takes, with a line at its floor and a mark at its target.
func picture(bars []bar) string {
	most := 1.0
	for _, b := range bars {
		most = max(most, b.ratio, b.target)
	}
	x := func(ratio float64) float64 { return labelWidth + ratio/most*(pictureWidth-labelWidth-60) }
	height := pictureHead + barStep*len(bars) + 12
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", pictureWidth, height)
	fmt.Fprintf(
		&out,
		"<title>Wall time of each variant as a part of its floor's</title>\n<style>%s</style>\n",
		pictureStyle,
	)
	fmt.Fprintf(&out, `<rect class="page" width="%d" height="%d"/>`+"\n", pictureWidth, height)
	fmt.Fprintf(
		&out,
		`<line class="floor" x1="%.1f" x2="%.1f" y1="26" y2="%d"/><text x="%.1f" y="18" text-anchor="middle">the floor: 1.0</text>`+"\n",
		x(1),
		x(1),
		height-8,
		x(1),
	)
	for i, b := range bars {
		y := pictureHead + i*barStep
		fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth-10, y+13, escaped(b.name))
		fmt.Fprintf(&out, `<rect class="bar" x="%d" y="%d" width="%.1f" height="16"/>`, labelWidth, y, x(b.ratio)-labelWidth)
		fmt.Fprintf(
			&out,
			`<line class="target" x1="%.1f" x2="%.1f" y1="%d" y2="%d"><title>target: %.1f</title></line>`,
			x(b.target),
			x(b.target),
			y-3,
			y+19,
			b.target,
		)
		fmt.Fprintf(&out, `<text x="%.1f" y="%d">%.2f</text>`+"\n", x(max(b.ratio, b.target))+8, y+13, b.ratio)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder takes everything
	return out.String()
}
