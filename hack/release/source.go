// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// source is what version control says about the files that are built.
type source struct {
	// revision is the commit, or empty without version control.
	revision string
	// created is the time of the commit. It is the time of everything that is built, so that two builds give the same
	// bytes.
	created time.Time
	// changed are the files that differ from the commit.
	changed []string
	// tags are the tags of the commit.
	tags []string
}

// readSource asks git. An epoch, in seconds, replaces the time of the commit. A directory without git gives 1970.
func readSource(ctx context.Context, root, epoch string) (source, error) {
	s := source{created: time.Unix(0, 0).UTC()}
	if _, err := git(ctx, root, "rev-parse", "--git-dir"); err == nil {
		if s, err = readCommit(ctx, root); err != nil {
			return source{}, err
		}
	}
	if epoch == "" {
		return s, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return source{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: it must be a number of seconds since 1970", epoch)
	}
	s.created = time.Unix(seconds, 0).UTC()
	return s, nil
}

func readCommit(ctx context.Context, root string) (source, error) {
	head, err := git(ctx, root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	revision, committed, _ := strings.Cut(head, " ")
	seconds, err := strconv.ParseInt(committed, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("reading the time of commit %s: %w", revision, err)
	}
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	tags, err := git(ctx, root, "tag", "--points-at", "HEAD")
	if err != nil {
		return source{}, err
	}
	return source{
		revision: revision,
		created:  time.Unix(seconds, 0).UTC(),
		changed:  lines(changed),
		tags:     lines(tags),
	}, nil
}

// mayRelease says why a version cannot be released from this source.
func (s source) mayRelease(version string) error {
	switch {
	case len(s.changed) > 0:
		return fmt.Errorf(
			"%d files differ from the commit, for example %q: commit them, or set DRY=1 to build without publishing",
			len(s.changed),
			s.changed[0],
		)
	case !slices.Contains(s.tags, version):
		return fmt.Errorf(
			"the commit does not have the tag %s: run git tag %s, or set DRY=1 to build without publishing",
			version,
			version,
		)
	}
	return nil
}

// checkVersion accepts v1.2.3 and v1.2.3-rc.1, and nothing shorter or longer: it is a git tag, and an image tag without
// escapes.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("VERSION is %q: it must be a semantic version with a v, for example v0.1.0 or v0.2.0-rc.1", version)
	}
	return nil
}

// previousTag is the newest released version before HEAD, or empty before the first one. A version that is no
// pre-release comes after the last one that was none: its notes list what changed for those who skip pre-releases.
func previousTag(ctx context.Context, root, version string) (string, error) {
	tags, err := git(ctx, root, "tag", "--merged", "HEAD")
	if err != nil {
		return "", err
	}
	previous := ""
	for _, tag := range lines(tags) {
		skipped := semver.Prerelease(tag) != "" && semver.Prerelease(version) == ""
		if checkVersion(tag) != nil || skipped || semver.Compare(tag, version) >= 0 {
			continue
		}
		if previous == "" || semver.Compare(tag, previous) > 0 {
			previous = tag
		}
	}
	return previous, nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
