// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// node is where a path has come to.
type node struct {
	fields map[string]*node
	// each is for the elements of a list, or the values of a map.
	each       *node
	references []reference
	// defaults are those of the fields that name something even when they are absent. Each of them has a bit of its own.
	defaults []*node
	bit      uint64
	// guess is the path where what looks like a reference counts as one: "." is the object.
	guess string
	// isText is true for what Pods are given as text.
	isText bool
	// isContainer is true for a container of a Pod, and expands for its texts, in which its variables may stand.
	isContainer, expands bool
}

// reference is a Reference as it is read.
type reference struct {
	Reference
	to                             schema.GroupKind
	kind, group, namespace, option []string
	namespaceFrom, where           []string
	whereValue                     string
	format                         []part
}

// part is one part of a Format: a text, the name itself, or a value of the object.
type part struct {
	text   string
	isName bool
	from   []string
}

func (n *node) at(path []step) *node {
	for _, s := range path {
		next := n.each
		if !s.each {
			next = n.fields[s.field]
		}
		if next == nil {
			next = &node{}
			switch {
			case s.each:
				n.each = next
			case n.fields == nil:
				n.fields = map[string]*node{s.field: next}
			default:
				n.fields[s.field] = next
			}
		}
		n = next
	}
	return n
}

// add puts a reference at its path.
func (n *node) add(path []step, r reference) {
	to := n.at(path)
	to.references = append(to.references, r)
	if r.Absent != "" && to.bit == 0 {
		parent := n.at(path[:len(path)-1])
		to.bit = 1 << len(parent.defaults)
		parent.defaults = append(parent.defaults, to)
	}
}

// compile reads a Reference. The error names all that is wrong with it.
func compile(r Reference) (reference, []step, error) {
	var errs []error
	fields := func(path string) []string {
		names, err := parseFields(path)
		errs = append(errs, err)
		return names
	}
	if r.Strength == "" {
		r.Strength = Names
	}
	where, value, _ := strings.Cut(r.Where, "=")
	c := reference{
		Reference:     r,
		to:            schema.ParseGroupKind(r.To),
		kind:          fields(r.KindField),
		group:         fields(r.GroupField),
		namespace:     fields(r.NamespaceField),
		namespaceFrom: fields(r.NamespaceFrom),
		option:        fields(r.OptionalField),
		where:         fields(where),
		whereValue:    value,
	}
	var err error
	c.format, err = parseFormat(r.Format)
	errs = append(errs, err, checkAdded(r, c.format), checkReference(r))
	path, err := parsePath(r.Path)
	switch {
	case err != nil:
	case r.Path == "":
		err = errors.New("path is missing: write which field holds the name, for example spec.secretName")
	case r.Absent != "" && path[len(path)-1].each:
		err = errors.New("absent goes with a path that ends with a field's name")
	}
	return c, path, errors.Join(append(errs, err)...)
}

func checkReference(r Reference) error {
	var errs []error
	if r.To == "" && r.KindField == "" {
		errs = append(
			errs,
			errors.New(
				"to is missing: write the kind that is named, with its group after a dot, as in Secret or Role.rbac.authorization.k8s.io, "+
					"or kindField, if a field beside the name says it",
			),
		)
	}
	if r.KindField == "" && (r.GroupField != "" || len(r.Kinds) > 0) {
		errs = append(errs, errors.New("groupField and kinds go with kindField only: write to, or add kindField"))
	}
	switch r.Strength {
	case "", Names, Learned, Reads, Hints:
	default:
		errs = append(
			errs,
			fmt.Errorf(
				"there is no strength %q: write %s, %s, %s or %s, or leave it out",
				r.Strength,
				Names,
				Learned,
				Reads,
				Hints,
			),
		)
	}
	return errors.Join(errs...)
}

// pairFormat is the Format of a text that holds a namespace, if it is not the source's own, and a name.
const pairFormat = "namespace/name"

// hostFormat is the Format of a URL or a host in which the name of a Service may stand, as in https://web.shop.svc:443.
const hostFormat = "host"

// checkAdded checks what a format adds to a name: people write a format to take a name out of a text, too. Roles and
// ClusterTrustBundles may have any name.
func checkAdded(r Reference, format []part) error {
	isNoName := func(p part) bool {
		return strings.ContainsFunc(p.text, func(r rune) bool {
			return r == '/' || r != '*' && r != '#' && isOutsideName(r)
		})
	}
	i := slices.IndexFunc(format, isNoName)
	anyName := r.To == "" || strings.HasSuffix(r.To, "."+rbacGroup) || strings.HasPrefix(r.To, "ClusterTrustBundle.")
	if i < 0 || anyName {
		return nil
	}
	return fmt.Errorf(
		"format %q adds %q, and no name has such signs: if the name is a part of the text, write the path under texts",
		r.Format,
		format[i].text,
	)
}

func parseFormat(format string) (parts []part, err error) {
	if format == "" || format == pairFormat || format == hostFormat {
		return nil, nil
	}
	hasName := false
	for rest := format; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			parts = append(parts, part{text: before})
		}
		if !found {
			break
		}
		path, end, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("format %q has a { without }", format)
		}
		from, err := parseFields(path)
		if err != nil {
			return nil, fmt.Errorf("format %q: %w", format, err)
		}
		hasName = hasName || path == ""
		parts, rest = append(parts, part{isName: path == "", from: from}), end
	}
	if !hasName {
		return nil, fmt.Errorf(
			"format %q has no {}: put it where the name goes, as in {}-tls, or write %s",
			format,
			pairFormat,
		)
	}
	return parts, nil
}
