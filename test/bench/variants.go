// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

//go:embed scripts/*.lua
var scripts embed.FS

// target is what a variant should need at most. Zero is no target.
type target struct {
	ratio    float64 // of the floor's wall time
	memoryMB int64   // resident, all processes together; that of usual scripts is measured in the manager
	ownMB    int64   // heaps and stacks: what the kernel maps of a program's file differs from day to day
	growth   float64 // of the floor's resident memory
	server   float64 // of the API server's CPU time for the floor
	// orOneRequest allows what a single request takes, where that is more. While objects change, sending them once can
	// take longer, and cost the API server more, than the share of the floor that is asked. No client can take less then.
	orOneRequest bool
}

// overOneRequest is how much of the API server's CPU time for a single request orOneRequest allows.
const overOneRequest = 1.1

// variant is one way to do the work.
type variant struct {
	name   string
	work   func(context.Context, *site) error // fails if the result is wrong
	target target
	proves string
	// floor is the variant that the ratio is to. Empty is the floor of reading.
	floor string
	// prepare makes what the work uses up. Nil when it uses up nothing.
	prepare func(context.Context, rest.Interface) error
	// stream is how many Pods the streaming server has that the variant works on. Zero is the API server.
	stream int
	// peer is the program of another project that does the work. Nil is this one.
	peer *peer
	// controller is the path of another project's program that goes on until it is stopped, as peer ends by itself.
	controller string
}

const (
	floorName       = "floor"
	oneRequestName  = "floor in one request"
	deleteFloorName = "deletes only"
	patchFloorName  = "patches only"
	streamFloorName = "stream of 20,000"
	searchFloorName = "findings in 20,000"
)

// variants are all there are, the floor first.
func variants() []variant { return slices.Concat(readers(), findings(), actors(), streams()) }

// readers select objects of the API server.
func readers() []variant {
	return []variant{
		{
			name:   floorName,
			work:   pageThrough(floorPage),
			proves: "The least for a client that pages through all Pods as text, 500 at a time, and looks at none: all ratios are to it.",
		},
		{
			name: oneRequestName, work: pageThrough(wholePage),
			proves: "What the API server itself needs to send all Pods: what the rows below have above it is ours.",
		},
		{
			name:   "Lua, per Pod",
			work:   judgePods(script("succeeded")),
			target: target{ratio: 1.0, server: 0.8, orOneRequest: true},
			proves: "Whether judging every Pod with a script, in a limited child, takes no longer than reading them.",
		},
		{
			name: "Lua, per Pod, pages of 500", work: onOldServer(judgePods(script("succeeded"))), target: target{ratio: 1.2},
			proves: "The same on a server before Kubernetes 1.33, where large pages would cost the server memory.",
		},
		{
			name: "CEL, per Pod", work: judgePods(conditions), target: target{ratio: 1.0, server: 0.8, orOneRequest: true},
			proves: "The same condition in CEL, which needs no child.",
		},
		{
			name: "CEL, metadata only", work: judgePods(nameOnly), target: target{ratio: 1.0, server: 0.8, orOneRequest: true},
			proves: "What a Scan saves whose conditions look at nothing but metadata: no more is asked of the API server.",
		},
		{
			name:   "typical script",
			work:   judgePods(script("typical")),
			target: target{ratio: 1.1, server: 0.8, orOneRequest: true},
			proves: "Whether a script of a dozen lines, with annotations, times and containers, is still hidden behind the list.",
		},
		{
			name:   "script that reads everything",
			work:   judgePods(script("everything")),
			target: target{ratio: 5},
			proves: "The worst case: nothing is saved by decoding only what is read, and the interpreter is what takes the time.",
		},
		{
			name:   "aggregated script",
			work:   findUnused,
			target: target{ratio: 1.5, memoryMB: 300},
			proves: "A script that looks at all Pods and ConfigMaps together: its memory, unlike the others', grows with their number.",
		},
	}
}

// actors delete and change them.
func actors() []variant {
	return []variant{
		{
			name:    deleteFloorName,
			work:    deleteOnly,
			floor:   deleteFloorName,
			prepare: prepareVictims(v1alpha1.ActionDelete),
			proves:  "The least for a client that deletes 5,000 ConfigMaps with preconditions, 16 at a time, and knows which: the row below is to it.",
		},
		{
			name:    "run with Delete",
			work:    carryOutRun,
			floor:   deleteFloorName,
			target:  target{ratio: 1.5},
			prepare: prepareVictims(v1alpha1.ActionDelete),
			proves:  "What a whole run takes longer, for listing, judging, the intent, the copies and the outcomes, all acknowledged.",
		},
		{
			name: patchFloorName, work: patchOnly, floor: patchFloorName, prepare: prepareVictims(v1alpha1.ActionTransform),
			proves: "The same floor for a client that patches them.",
		},
		{
			name:    "run with Transform",
			work:    carryOutRun,
			floor:   patchFloorName,
			target:  target{ratio: 1.5},
			prepare: prepareVictims(v1alpha1.ActionTransform),
			proves:  "The same for a run that changes a label.",
		},
	}
}

// streams select objects of a server that has any number of them.
func streams() []variant {
	return []variant{
		{
			name: streamFloorName, work: judgeStream(few), floor: streamFloorName, stream: few,
			proves: "A script on 20,000 Pods of a server that makes them up while it sends them, for the memory it takes.",
		},
		{
			name:   "stream of 1,000,000",
			work:   judgeStream(manyObjects),
			floor:  streamFloorName,
			target: target{memoryMB: 96, growth: 1.1},
			stream: manyObjects,
			proves: "Whether memory stays the same with fifty times as many: it does not grow with what is looked at, only with what matches.",
		},
		{
			name: searchFloorName, work: findInStream, floor: searchFloorName, stream: few,
			proves: "A search for unused ConfigMaps on 20,000 such Pods, for the memory it takes.",
		},
		{
			name:   "findings in 1,000,000",
			work:   findInStream,
			floor:  searchFloorName,
			target: target{memoryMB: 96, growth: 1.1},
			stream: manyObjects,
			proves: "Whether memory stays the same with fifty times as many: of a Pod no more is kept than names that are new.",
		},
	}
}

// readScript returns one of the scripts measured.
func readScript(name string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + name + ".lua")
	return string(text), err
}

func podSelector() v1alpha1.ResourceSelector {
	return v1alpha1.ResourceSelector{Version: "v1", Kind: "Pod"}
}

func configMapSelector() v1alpha1.ResourceSelector {
	return v1alpha1.ResourceSelector{Version: "v1", Kind: "ConfigMap"}
}

// oldServer answers for a server that it is too old for large pages.
type oldServer struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o oldServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Path != "/version" {
		return o.RoundTripper.RoundTrip(request)
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Request:    request,
		Header: http.Header{
			"Content-Type": {"application/json"},
		},
		Body: io.NopCloser(strings.NewReader(`{"major": "1", "minor": "32"}`)),
	}, nil
}

func onOldServer(work func(context.Context, *site) error) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		s.config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return oldServer{rt} })
		if err := s.connect(); err != nil {
			return fmt.Errorf("connecting as to an old server: %w", err)
		}
		return work(ctx, s)
	}
}
