// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repository makes a git repository with commits of these subjects, and commands after them.
func repository(t *testing.T, commands ...[]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, variable := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(variable, "someone@example.com")
	}
	t.Setenv("GIT_COMMITTER_DATE", "2026-11-01T12:00:00Z")
	for _, command := range append([][]string{{"init", "-q"}}, commands...) {
		if _, err := git(t.Context(), dir, command...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func commit(subject string) []string { return []string{"commit", "-q", "--allow-empty", "-m", subject} }

func TestSource(t *testing.T) {
	dir := repository(t, commit("first"), []string{"tag", "v0.1.0"})
	s, err := readSource(t.Context(), dir, "")
	if err != nil || len(s.revision) != 40 || !s.created.Equal(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)) {
		t.Fatalf("%v: the source is %+v", err, s)
	}
	if err := s.mayRelease("v0.1.0"); err != nil {
		t.Error(err)
	}
	if err := s.mayRelease("v0.2.0"); err == nil || !strings.Contains(err.Error(), "git tag v0.2.0") {
		t.Errorf("a version without a tag: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = readSource(t.Context(), dir, "1700000000"); err != nil || s.created.Unix() != 1700000000 {
		t.Errorf("%v: SOURCE_DATE_EPOCH gives %s", err, s.created)
	}
	if err := s.mayRelease("v0.1.0"); err == nil || !strings.Contains(err.Error(), `for example "?? new"`) {
		t.Errorf("a changed tree: %v", err)
	}
	for _, epoch := range []string{"today", "-1"} {
		if _, err := readSource(t.Context(), dir, epoch); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH is") {
			t.Errorf("SOURCE_DATE_EPOCH=%s: %v", epoch, err)
		}
	}
	s, err = readSource(t.Context(), t.TempDir(), "")
	if err != nil || s.revision != "" || s.created.Unix() != 0 {
		t.Errorf("%v: without git the source is %+v", err, s)
	}
}

func TestNotes(t *testing.T) {
	dir := repository(t, commit("run: the first"), []string{"tag", "v0.9.0"}, []string{"tag", "latest"}, []string{"tag", "v0.10.0"}, []string{"tag", "v1.0.0"},
		commit("run: stop early"), commit("Something else"), commit("cli, run: one flag: less"), commit("run: stop late"))
	changelog := "# Changelog\n\n## Unreleased\n\nNothing yet.\n\n## v0.11.0 (2026-11-02)\n\nIt is faster.\n\n## v0.10.0\n\nOld.\n"
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := notes(t.Context(), dir, "v0.11.0")
	if err != nil {
		t.Fatal(err)
	}
	want := "# v0.11.0\n\nIt is faster.\n\n## All changes since v0.10.0\n\n**cli, run**\n\n- one flag: less\n\n**run**\n\n- stop early\n- stop late\n\n" +
		"**other**\n\n- Something else\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The first release has no list of commits, and no release has notes that GitHub refuses.
func TestLengthOfNotes(t *testing.T) {
	dir := repository(t, commit("run: the first"))
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("# Changelog\n\n## Unreleased\n\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("New.\n")
	if got, err := notes(t.Context(), dir, "v0.1.0"); err != nil || string(got) != "# v0.1.0\n\nNew.\n" {
		t.Errorf("%v: the first notes are %q", err, got)
	}
	write(strings.Repeat("a", maxNotes))
	if _, err := notes(t.Context(), dir, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "may have 120000") {
		t.Errorf("long notes: %v", err)
	}
}

// The notes of a version say what changed since the version that users have, and those of a pre-release what changed since the last one.
func TestPreviousTag(t *testing.T) {
	dir := repository(t, commit("one"), []string{"tag", "v0.1.0"}, commit("two"), []string{"tag", "v0.2.0-rc.1"}, commit("three"),
		[]string{"tag", "v0.2.0-rc.2"})
	for version, want := range map[string]string{"v0.1.0": "", "v0.2.0-rc.2": "v0.2.0-rc.1", "v0.2.0-rc.3": "v0.2.0-rc.2", "v0.2.0": "v0.1.0", "v0.2.1-rc.1": "v0.2.0-rc.2"} {
		if got, err := previousTag(t.Context(), dir, version); err != nil || got != want {
			t.Errorf("%v: before %s comes %q, want %q", err, version, got, want)
		}
	}
}

func TestChangelogSection(t *testing.T) {
	t.Parallel()
	const text = "# Changelog\n\n## Unreleased\n\nNew.\n\n### Fixed\n\nAll.\n\n## v0.1.0\n\nOld.\n"
	for version, want := range map[string]string{"v0.1.0": "Old.", "v0.1": "New.\n\n### Fixed\n\nAll.", "v0.2.0": "New.\n\n### Fixed\n\nAll."} {
		if got, err := changelogSection(text, version); err != nil || got != want {
			t.Errorf("%v: %s says %q, want %q", err, version, got, want)
		}
	}
	if _, err := changelogSection("# Changelog\n\n## Unreleased\n", "v0.1.0"); err == nil || !strings.Contains(err.Error(), "say there what changes for users") {
		t.Errorf("an empty section: %v", err)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	if got := lines(""); len(got) != 0 {
		t.Errorf("no text has lines %q", got)
	}
	if got := lines("a\nb"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the lines are %q", got)
	}
}
