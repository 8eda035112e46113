// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)`)
	anchor  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	code    = regexp.MustCompile("`[^`\n]*`")
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// page is a Markdown file: where its links lead, and the anchors that links can lead to.
type page struct {
	links   []string
	anchors map[string]bool
}

func parsePage(text string) page {
	text = fence.ReplaceAllString(text, "")
	p := page{anchors: map[string]bool{}}
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		name := slug(match[1])
		unique := name
		for i := 1; p.anchors[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", name, i)
		}
		p.anchors[unique] = true
	}
	for _, match := range anchor.FindAllStringSubmatch(text, -1) {
		p.anchors[match[1]] = true
	}
	// Code may look like a link, but the text of a link may hold code.
	text = code.ReplaceAllString(text, "")
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		p.links = append(p.links, match[2])
	}
	return p
}

// slug is the anchor that GitHub gives to a heading.
func slug(heading string) string {
	heading = link.ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// markdown reads README.md, CONTRIBUTING.md and the pages of docs, by their paths below the root.
func markdown(t *testing.T) map[string]page {
	t.Helper()
	pages := map[string]page{}
	read := func(file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		pages[filepath.ToSlash(name)] = parsePage(string(text))
		return err
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(file) != ".md":
			return nil
		}
		return read(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		if err := read(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

// target is the file below the root to which a link in a page leads, and the anchor. ok is false for links to other sites.
func target(from, to string) (file, anchor string, ok bool, err error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" {
		return "", "", false, err
	}
	if u.Path == "" {
		return from, u.Fragment, true, nil
	}
	return path.Join(path.Dir(from), u.Path), u.Fragment, true, nil
}

// TestLinks checks that each link to a file, and to a heading of a page, leads somewhere.
func TestLinks(t *testing.T) {
	pages := markdown(t)
	checked := 0
	for name, p := range pages {
		for _, to := range p.links {
			file, anchor, ok, err := target(name, to)
			if err != nil {
				t.Errorf("%s: the link %q cannot be read: %v", name, to, err)
			}
			if !ok {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: the link %q leads to no file", name, to)
				continue
			}
			if other, isPage := pages[file]; isPage && anchor != "" && !other.anchors[anchor] {
				t.Errorf("%s: the link %q leads to no heading of %s", name, to, file)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were checked", checked)
	}
}

// TestIndex checks that docs/index.md links to every page of docs.
func TestIndex(t *testing.T) {
	const index = "docs/index.md"
	pages := markdown(t)
	listed := map[string]bool{}
	for _, to := range pages[index].links {
		if file, _, ok, err := target(index, to); ok && err == nil {
			listed[file] = true
		}
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && name != index && !listed[name] {
			t.Errorf("%s does not link to %s", index, name)
		}
	}
}

func TestParsePage(t *testing.T) {
	got := parsePage("# `rollback.storage`: where? Here\n## A [link](b.md) twice\n## A link twice\n<a id=\"own\"></a>\n" +
		"see [one](c.md#d), `[no](x.md)` and [`two`](../e.md)\n```\n# no heading\n[no](y.md)\n```\n## KubeCleaner's 10,000 races – all_of them\n")
	want := page{
		links:   []string{"b.md", "c.md#d", "../e.md"},
		anchors: map[string]bool{"rollbackstorage-where-here": true, "a-link-twice": true, "a-link-twice-1": true, "own": true, "kubecleaners-10000-races--all_of-them": true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(page{})); diff != "" {
		t.Error(diff)
	}
}
