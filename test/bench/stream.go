// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

const (
	// few and manyObjects are how many Pods the streaming server has: memory must not grow from one to the other.
	few         = 20_000
	manyObjects = 1_000_000
	// patterns is how many different Pods it has, apart from their identity.
	patterns = 1000
	// streamMatches is how many of its Pods match.
	streamMatches = 1000
)

// streaming is a server that has any number of Pods, and keeps none: for what no API server on this machine could hold.
type streaming struct {
	kubeconfig string
	server     *http.Server
}

// startStreaming serves on loopback. The Pods are those of the load, with a number each.
func startStreaming(ctx context.Context, dir string) (*streaming, error) {
	pods := make([]pattern, patterns)
	for i := range pods {
		var err error
		if pods[i], err = newPattern(i); err != nil {
			return nil, err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc("GET /{objects}"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
		})
	}
	answer("/version", `{"major": "1", "minor": "36"}`)
	answer(
		"/api/v1",
		`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","get"]}]}`,
	)
	answer(
		"/api/v1/configmaps",
		`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`,
	)
	mux.HandleFunc("GET /{objects}/api/v1/pods", func(w http.ResponseWriter, r *http.Request) { servePods(w, r, pods) })
	s := &streaming{
		kubeconfig: filepath.Join(dir, "streaming"),
		server:     &http.Server{Handler: mux},
	}
	for _, n := range []int{few, manyObjects} {
		config := clientcmdapi.NewConfig()
		config.Clusters["streaming"] = &clientcmdapi.Cluster{Server: fmt.Sprintf("http://%s/%d", listener.Addr(), n)}
		config.Contexts["streaming"] = &clientcmdapi.Context{Cluster: "streaming"}
		config.CurrentContext = "streaming"
		if err := clientcmd.WriteToFile(*config, s.path(n)); err != nil {
			return nil, err
		}
	}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *streaming) path(objects int) string { return fmt.Sprintf("%s-%d", s.kubeconfig, objects) }

func (s *streaming) stop() { _ = s.server.Close() }

// pattern is a Pod without its identity, which stands between the two parts.
type pattern struct{ before, after []byte }

func newPattern(i int) (pattern, error) {
	_, created, status, err := load{Pods: patterns, ConfigMaps: patterns}.pod(i)
	if err != nil {
		return pattern{}, err
	}
	// Both are JSON maps, and a Pod as it is created has no status.
	whole := append(append(bytes.TrimRight(created, " \n}"), "},"...), bytes.TrimLeft(status, " \n{")...)
	before, after, found := bytes.Cut(whole, fmt.Appendf(nil, `"name": %q`, podName(i)))
	if !found {
		return pattern{}, fmt.Errorf("the %d-th Pod has no name", i)
	}
	return pattern{before, after}, nil
}

func (p pattern) write(out *bufio.Writer, i int) {
	_, _ = out.Write(p.before)
	fmt.Fprintf(out, `"name":"pod-%07d","uid":"00000000-0000-4000-8000-%012d","resourceVersion":"%d"`, i, i, i+1)
	_, _ = out.Write(p.after)
}

// servePods streams a page of Pods.
func servePods(w http.ResponseWriter, r *http.Request, pods []pattern) {
	total, _ := strconv.Atoi(r.PathValue("objects"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	if limit == 0 {
		limit = total
	}
	to := min(from+limit, total)
	next := ""
	if to < total {
		next = strconv.Itoa(to)
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(
		out,
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":%q},"items":[`,
		next,
	)
	for i := from; i < to; i++ {
		if i > from {
			_ = out.WriteByte(',')
		}
		pods[i%patterns].write(out, i)
	}
	_, _ = out.WriteString("]}")
	_ = out.Flush()
}

// judgeStream judges the Pods of the streaming server, of which there are so many. As many match, however many there
// are.
func judgeStream(objects int) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		session := s.pool.Open(sandbox.Options{Now: time.Now()})
		defer session.Close()
		var found selector.Matches
		judge := selector.Judge{
			Session: session,
			Script:  `function evaluate() return {matching = string.sub(obj.metadata.name, 1, 8) == "pod-0000" and obj.spec ~= nil} end`,
		}
		if err := s.selectInto(ctx, &found, podSelector(), judge, objects); err != nil {
			return err
		}
		if found.Verdicts.Len() != streamMatches {
			return fmt.Errorf("%d Pods matched, want %d", found.Verdicts.Len(), streamMatches)
		}
		return nil
	}
}

// findInStream looks for ConfigMaps that no Pod of the streaming server uses. There are none: what counts is what is
// kept of the Pods.
func findInStream(ctx context.Context, s *site) error {
	sources, err := graph.BuiltInSources()
	if err != nil {
		return err
	}
	kind := func(name, resource string) object.Kind {
		return object.Kind{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: name},
			Resource:         resource,
			Namespaced:       true,
		}
	}
	served := []object.Kind{kind("Pod", "pods"), kind("ConfigMap", "configmaps")}
	table, err := graph.NewTable(
		graph.Among(sources, func(gk schema.GroupKind) bool { return gk == served[0].GroupKind() }),
	)
	if err != nil {
		return err
	}
	finder := finding.New(finding.Options{Table: table, Served: served, Wanted: unusedConfigMaps, Now: time.Now()})
	if err := survey.Read(
		ctx,
		selector.NewReader(s.client, clock.RealClock{}),
		finder,
		"",
		nil,
		survey.Observer{},
	); err != nil {
		return err
	}
	for found := range finder.Findings() {
		return fmt.Errorf("%s was found where there are no ConfigMaps", found)
	}
	return nil
}
