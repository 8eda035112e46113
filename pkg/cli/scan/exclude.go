// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// pattern names objects that are not shown. An empty part matches everything.
type pattern struct {
	kind, namespace, name string
	// of is the kind that kind means. Empty where that matches several, or none.
	of schema.GroupKind
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

// resolveExcluded finds out which kinds the words of --exclude mean, as --kind does. That one means none is no error: a
// cluster need not have each kind that is of no interest.
func (j *job) resolveExcluded() {
	for i := range j.exclude {
		p := &j.exclude[i]
		if p.kind == "" || strings.ContainsAny(p.kind, `*?[\`) {
			continue
		}
		kind, err := j.Kind(p.kind)
		if err != nil {
			j.Note("--exclude %s leaves nothing out: %s", terminal.OneLine(j.options.exclude[i]), terminal.OneLine(err.Error()))
			continue
		}
		p.of = kind.GroupKind()
	}
}

func (p pattern) matches(f *finding.Finding) bool {
	part := func(glob, text string) bool {
		ok, _ := path.Match(glob, text) // it was checked before
		return glob == "" || ok
	}
	if p.of.Kind != "" && p.of != f.Kind.GroupKind() {
		return false
	}
	kind := p.of.Kind != "" || part(strings.ToLower(p.kind), strings.ToLower(f.Kind.Kind)) || part(p.kind, f.Kind.Resource)
	return kind && (p.namespace == "" || f.Namespace != "") && part(p.namespace, f.Namespace) && part(p.name, f.Name)
}
