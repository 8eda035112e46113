// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/scan"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
)

const (
	// keptFor is how long a person's scan is kept for the person's next pages, and keptScans how many are kept in all.
	keptFor   = time.Minute
	keptScans = 4
)

// scans are the last scans, each for the person that made it and for no one else.
type scans struct {
	now   func() time.Time
	mutex sync.Mutex
	kept  []kept
}

type kept struct {
	person, namespace string
	at                time.Time
	result            *scan.Result
}

func (s *scans) find(p *person, namespace string) (kept, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(k kept) bool { return s.now().Sub(k.at) > keptFor })
	i := slices.IndexFunc(s.kept, func(k kept) bool { return k.person == p.key && k.namespace == namespace })
	if i < 0 {
		return kept{}, false
	}
	return s.kept[i], true
}

func (s *scans) keep(k kept) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(other kept) bool {
		return other.person == k.person &&
			other.namespace == k.namespace
	})
	s.kept = append([]kept{k}, s.kept...)[:min(len(s.kept)+1, keptScans)]
}

// scanned is the person's scan of a namespace, or of the whole cluster. One that is kept is shown only to a person whom
// the API server still knows.
func (s *Server) scanned(ctx context.Context, p *person, namespace string, refresh bool) (kept, error) {
	if _, err := p.review(ctx); err != nil {
		return kept{}, err
	}
	if found, ok := s.scans.find(p, namespace); ok && !refresh {
		return found, nil
	}
	args := []string{"-o", "json", "--progress=none", "--min-confidence=Weak"}
	if namespace != "" {
		args = append(args, "--namespace="+namespace)
	}
	found := kept{person: p.key, namespace: namespace, at: s.Now(), result: &scan.Result{}}
	if err := s.runJSON(ctx, p, command{of: scan.Command, args: args}, found.result); err != nil {
		return kept{}, err
	}
	s.scans.keep(found)
	return found, nil
}

func (s *Server) findings(r *http.Request, p *person) (int, any, error) {
	query := r.URL.Query()
	found, err := s.scanned(r.Context(), p, query.Get("namespace"), query.Get("refresh") == "true")
	if err != nil {
		return 0, nil, err
	}
	result := found.result
	answer := Findings{
		Unread: result.Unread, Objects: result.Objects, Kinds: result.Kinds, Frees: result.Frees,
		NotCounted: result.NotCounted, Scanned: found.at, Scope: found.namespace, Groups: []FindingGroup{},
	}
	all, alike := []search.Finding{}, []search.Finding{}
	but := otherFilters(query, query.Get("group"))
	for _, list := range [][]search.Finding{result.Findings, result.Unknown} {
		for _, f := range list {
			if isWanted(but, f) {
				alike = append(alike, f)
			}
			if !isWanted(query, f) {
				continue
			}
			all = append(all, f)
			if f.Unknown {
				answer.Unknown++
			}
		}
	}
	if by := keyOf(query.Get("group")); by != nil {
		answer.Groups = groupsOf(alike, by)
	}
	answer.Page = pageOf(r, all)
	return http.StatusOK, answer, nil
}

// otherFilters are the filters without that by which findings are grouped, so that all groups stay to choose from.
func otherFilters(query url.Values, group string) url.Values {
	but := maps.Clone(query)
	but.Del(map[string]string{"namespace": "in"}[group])
	if group != "namespace" { // that says what is scanned
		but.Del(group)
	}
	return but
}

func isWanted(query url.Values, f search.Finding) bool {
	return isOrAny(query.Get("kind"), f.Kind) && isOrAny(query.Get("type"), string(f.Type)) &&
		isOrAny(query.Get("owner"), ownerOf(f)) && isOrAny(query.Get("confidence"), string(f.Confidence)) &&
		isOrAny(query.Get("in"), f.Namespace) && matches(query.Get("q"), f.Kind, f.Namespace, f.Name, f.Reason, f.ManagedBy)
}

// ownerOf is what manages the object.
func ownerOf(f search.Finding) string { return cmp.Or(f.ManagedBy, "nobody") }

// keyOf is by what findings are grouped. Nil means not at all.
func keyOf(group string) func(search.Finding) string {
	return map[string]func(search.Finding) string{
		"kind":      func(f search.Finding) string { return f.Kind },
		"namespace": func(f search.Finding) string { return f.Namespace },
		"type":      func(f search.Finding) string { return string(f.Type) },
		"owner":     ownerOf,
	}[group]
}

// groupsOf are the groups, the largest first.
func groupsOf(all []search.Finding, by func(search.Finding) string) []FindingGroup {
	groups, at := []FindingGroup{}, map[string]int{}
	for _, f := range all {
		key := by(f)
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, FindingGroup{Key: key})
		}
		groups[i].Count++
		if f.Frees != nil {
			groups[i].Frees.VolumeBytes += f.Frees.VolumeBytes
			groups[i].Frees.LoadBalancers += f.Frees.LoadBalancers
		}
	}
	slices.SortFunc(groups, func(a, b FindingGroup) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Key, b.Key)) })
	return groups
}

// findingsCleaner is a Cleaner that looks for such findings on a schedule, and only reports them.
func (s *Server) findingsCleaner(r *http.Request, p *person) (int, any, error) {
	args := []string{"-o", "cleaner", "--progress=none"}
	for _, name := range []string{"kind", "type", "namespace"} {
		if value := r.URL.Query().Get(name); value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	out, _, err := s.output(r.Context(), p, command{of: scan.Command, args: args})
	return http.StatusOK, Manifest{YAML: string(out)}, err
}
