// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNotes is how long release notes may be: below GitHub's 125,000 characters, beyond which it refuses the release.
const maxNotes = 120_000

// errNoSection says that CHANGELOG.md does not have a text about a version.
var errNoSection = errors.New("say there what changes for users")

// notes are the release notes: what CHANGELOG.md says to users, and the subjects of the commits since the version
// before. Without a text in CHANGELOG.md, the error is errNoSection, and the notes have only the commits.
func notes(ctx context.Context, root, version string) ([]byte, error) {
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	section, missing := changelogSection(string(changelog), version)
	text := fmt.Sprintf("# %s\n\n%s\n", version, section)
	previous, err := previousTag(ctx, root, version)
	if err != nil {
		return nil, err
	}
	if previous != "" { // else they would list every commit that there is
		subjects, err := git(ctx, root, "log", "--no-merges", "--format=%s", previous+"..HEAD")
		if err != nil {
			return nil, err
		}
		text += fmt.Sprintf("\n## All changes since %s\n%s", previous, groupByArea(lines(subjects)))
	}
	if n := utf8.RuneCountInString(text); n > maxNotes {
		return nil, fmt.Errorf("the release notes have %d characters, and may have %d, because GitHub takes no more than 125000: "+
			"shorten the section of CHANGELOG.md, or release more often", n, maxNotes)
	}
	return []byte(text), missing
}

// changelogSection is what CHANGELOG.md says about a version or, before the version has a section, what it says is
// unreleased.
func changelogSection(changelog, version string) (string, error) {
	unreleased, own := "", ""
	for section := range strings.SplitSeq("\n"+changelog, "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		switch {
		case title == version || strings.HasPrefix(title, version+" "):
			own = strings.TrimSpace(text)
		case title == "Unreleased":
			unreleased = strings.TrimSpace(text)
		}
	}
	if text := cmp.Or(own, unreleased); text != "" {
		return text, nil
	}
	return "", fmt.Errorf(
		"CHANGELOG.md has nothing in a section %q or %q: %w",
		version,
		"Unreleased",
		errNoSection,
	)
}

var areaPrefix = regexp.MustCompile(`^([a-z0-9./-]+(?:, [a-z0-9./-]+)*): (.+)$`)

// groupByArea lists subjects of commits by what stands before the colon. Subjects without an area come last.
func groupByArea(subjects []string) string {
	const other = "other"
	changes := map[string][]string{}
	for _, subject := range subjects {
		area, text := other, subject
		if match := areaPrefix.FindStringSubmatch(subject); match != nil {
			area, text = match[1], match[2]
		}
		changes[area] = append(changes[area], text)
	}
	areas := make([]string, 0, len(changes))
	for area := range changes {
		areas = append(areas, area)
	}
	slices.SortFunc(areas, func(a, b string) int {
		if (a == other) != (b == other) {
			return map[bool]int{true: 1, false: -1}[a == other]
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
	for _, area := range areas {
		fmt.Fprintf(&out, "\n**%s**\n\n", area)
		for _, text := range slices.Backward(changes[area]) { // oldest first
			fmt.Fprintf(&out, "- %s\n", text)
		}
	}
	return out.String()
}
