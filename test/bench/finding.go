// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

const listsFloorName = "lists of a scan"

var unusedConfigMaps = []finding.Want{{Kind: schema.GroupKind{Kind: "ConfigMap"}, Type: v1alpha1.FindingUnused}}

// findings look for what is unused.
func findings() []variant {
	return []variant{
		{
			name:   listsFloorName,
			work:   readLists,
			floor:  listsFloorName,
			proves: "The least for a client that reads what all findings need, one request for each kind, and looks at nothing: the row below is to it.",
		},
		{
			name:   "scan",
			work:   scan(nil),
			floor:  listsFloorName,
			target: target{ratio: 1.3, memoryMB: 96},
			proves: "All findings of all kinds, as kubectl cleaner scan looks for them: whether knowing who uses what is hidden behind the lists.",
		},
		{
			name:   "why a ConfigMap is used",
			work:   why,
			floor:  listsFloorName,
			target: target{ratio: 1.3, memoryMB: 96},
			proves: "All references to one ConfigMap, as kubectl cleaner why shows them: the lists of what may name one, and what is added to them.",
		},
		{
			name:   "orphaned ConfigMaps",
			work:   scan(unusedConfigMaps),
			target: target{ratio: 0.8, ownMB: 32, orOneRequest: true},
			proves: "One kind of findings, as kubectl cleaner scan --kind ConfigMap looks for it: the Pods whole, the metadata of the ConfigMaps, and their data, in which others may be named.",
		},
	}
}

// finder says what is to be read of the cluster.
func (s *site) finder(ctx context.Context, wanted []finding.Want) (*selector.Reader, *finding.Finder, error) {
	reader := selector.NewReader(s.client, clock.RealClock{})
	finder, err := survey.New(ctx, reader, survey.Options{Wanted: wanted, Now: time.Now()})
	return reader, finder, err
}

func readLists(ctx context.Context, s *site) error {
	_, finder, err := s.finder(ctx, nil)
	if err != nil {
		return err
	}
	for _, list := range finder.Lists() {
		request := s.client.Get().AbsPath(list.Kind.Path("", ""))
		if list.Fields != "" {
			request = request.Param("fieldSelector", list.Fields)
		}
		if list.MetadataOnly {
			request = request.SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
		}
		body, err := request.Stream(ctx)
		if err != nil {
			return fmt.Errorf("listing %s: %w", list.Kind.Kind, err)
		}
		_, err = io.Copy(io.Discard, body)
		_ = body.Close()
		if err != nil {
			return fmt.Errorf("listing %s: %w", list.Kind.Kind, err)
		}
	}
	return nil
}

// scan looks for findings, and fails unless those of the load's ConfigMaps are exactly the ones that no Pod uses.
func scan(wanted []finding.Want) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		reader, finder, err := s.finder(ctx, wanted)
		if err != nil {
			return err
		}
		if err := survey.Read(ctx, reader, finder, "", nil, survey.Observer{}); err != nil {
			return err
		}
		found := 0
		for f := range finder.Findings() {
			if f.Kind.Kind != "ConfigMap" || f.Type != v1alpha1.FindingUnused ||
				!strings.HasPrefix(f.Namespace, namespacePrefix) {
				continue
			}
			if found++; s.load.isInUse(indexOf(f.Name)) || len(f.Unknown) > 0 {
				return fmt.Errorf("%s is used, and was found: %s", f.String(), f.Reason)
			}
		}
		if want := s.load.unused(); found != want {
			return fmt.Errorf("%d ConfigMaps were found unused, want %d", found, want)
		}
		return nil
	}
}

// unused is how many ConfigMaps no Pod uses.
func (l load) unused() (n int) {
	for i := range l.ConfigMaps {
		if !l.isInUse(i) {
			n++
		}
	}
	return n
}

// why looks for who uses the first ConfigMap, and fails unless all of its Pods are reported.
func why(ctx context.Context, s *site) error {
	name := graph.Name{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: namespaceOf(0), Name: configMapName(0)}
	reader := selector.NewReader(s.client, clock.RealClock{})
	finder, err := survey.New(
		ctx,
		reader,
		survey.Options{Wanted: unusedConfigMaps, Now: time.Now(), Watched: []graph.Name{name}},
	)
	if err != nil {
		return err
	}
	if err := survey.Read(ctx, reader, finder, "", nil, survey.Observer{}); err != nil {
		return err
	}
	want := 0
	for pod := 0; pod < s.load.Pods; pod += s.load.used() {
		if !hasSucceeded(pod) {
			want++
		}
	}
	if evidence := finder.Graph().Evidence(name); len(evidence) != want {
		return fmt.Errorf("%d references to %s were found, want %d", len(evidence), name, want)
	}
	return nil
}

// isInUse reports whether a Pod that has not ended names the ConfigMap.
func (l load) isInUse(configMap int) bool {
	if configMap >= l.used() {
		return false
	}
	for pod := configMap; pod < l.Pods; pod += l.used() {
		if !hasSucceeded(pod) {
			return true
		}
	}
	return false
}
