// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// pattern names objects that are not shown. An empty part matches everything.
type pattern struct {
	kind, namespace, name string
	// of is the kind that kind means. Empty where that may match several.
	of schema.GroupKind
	// used is whether it left something out.
	used bool
}

// parsePatterns reads the values of --exclude.
func parsePatterns(texts []string) (patterns []pattern, err error) {
	for _, text := range texts {
		p, err := parsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("--exclude %q: %w", text, err)
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

func parsePattern(text string) (p pattern, err error) {
	switch parts := strings.Split(text, "/"); len(parts) {
	case 1:
		p.namespace = parts[0]
	case 2:
		p.kind, p.name = parts[0], parts[1]
	case 3:
		p.kind, p.namespace, p.name = parts[0], parts[1], parts[2]
	default:
		return p, fmt.Errorf("write NAMESPACE, KIND/NAME or KIND/NAMESPACE/NAME")
	}
	if text == "" || strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.Contains(text, "//") {
		return p, fmt.Errorf("a part is empty; write * for any text")
	}
	for _, part := range []string{p.kind, p.namespace, p.name} {
		if _, err := path.Match(part, ""); err != nil {
			return p, fmt.Errorf("[ has no ]")
		}
	}
	return p, nil
}

// resolveExcluded finds out which kinds the words of --exclude mean, as --kind does. wrong says which mean none.
func (j *job) resolveExcluded() (wrong []string) {
	for i := range j.exclude {
		p := &j.exclude[i]
		if p.kind == "" || isGlob(p.kind) {
			continue
		}
		kind, err := j.Kind(p.kind)
		if down := j.mayServe(p.kind); err != nil && len(down) > 0 {
			j.Note("--exclude %s: no kind has this name in the groups that could be read; %s could not be read, and may have it",
				terminal.OneLine(j.options.exclude[i]), terminal.OneLine(terminal.Shortened(down, terminal.MaxNames)))
		} else if err != nil {
			wrong = append(wrong, noSuchKind("exclude", j.options.exclude[i], err))
		}
		p.of = kind.GroupKind()
	}
	return wrong
}

// mayServe are the groups of which nobody knows the kinds at present, and which may have the kind that a word means.
func (j *job) mayServe(word string) []string {
	down := slices.Sorted(maps.Keys(j.Catalog.Unserved))
	_, group, grouped := strings.Cut(strings.ToLower(word), ".")
	return slices.DeleteFunc(down, func(name string) bool { return grouped && name != group })
}

// noSuchKind says which value of a flag names a kind that there is not, and which one may be meant.
func noSuchKind(flag, value string, err error) string {
	message := fmt.Sprintf("--%s %s: %s", flag, terminal.OneLine(value), terminal.OneLine(err.Error()))
	var f *terminal.Failure
	if errors.As(err, &f) && f.Hint != "" {
		message += "; " + f.Hint
	}
	return message
}

// isExcluded reports whether a value of --exclude leaves it out.
func (j *job) isExcluded(f *finding.Finding) (excluded bool) {
	for i := range j.exclude {
		if j.exclude[i].matches(f) {
			j.exclude[i].used, excluded = true, true
		}
	}
	return excluded
}

// noteUnusedPatterns says which values of --exclude left nothing out: one may be mistyped.
func (j *job) noteUnusedPatterns() {
	var unused []string
	for i, p := range j.exclude {
		if !p.used {
			unused = append(unused, terminal.OneLine(j.options.exclude[i]))
		}
	}
	if len(unused) > 0 {
		j.Note("--exclude %s matches no finding", strings.Join(unused, ","))
	}
}

func (p pattern) matches(f *finding.Finding) bool {
	return p.isOf(f.Kind) && (p.namespace == "" || f.Namespace != "") &&
		isLike(p.namespace, f.Namespace) && isLike(p.name, f.Name)
}

// isOf reports whether the pattern is about the kind.
func (p pattern) isOf(kind object.Kind) bool {
	if p.of.Kind != "" {
		return p.of == kind.GroupKind()
	}
	return isLike(strings.ToLower(p.kind), strings.ToLower(kind.Kind)) || isLike(p.kind, kind.Resource)
}

// isLike reports whether a text is like a glob. An empty one matches everything.
func isLike(glob, text string) bool {
	ok, _ := path.Match(glob, text) // it was checked before
	return glob == "" || ok
}

// isGlob reports whether a part of a pattern may match several texts.
func isGlob(part string) bool { return strings.ContainsAny(part, `*?[\`) }
