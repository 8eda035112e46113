// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// settings are what to measure. They come from the environment.
type settings struct {
	load     load
	cleaners int // for the measurement with many of them
	rounds   int
	only     *regexp.Regexp // variants; nil is all. Their floors are measured, too.
	profiles string         // a directory; empty is no profiles
	picture  string         // a file for the picture; empty is none
	kor      string         // the program kor; empty is none
	// k8sCleaner is the manager of k8s-cleaner; empty is none.
	k8sCleaner string
}

// sample is one measurement of a variant.
type sample struct {
	measured
	// Server is what the API server did meanwhile.
	Server effort
	Memory memory
}

// results are the samples of each variant, by name.
type results map[string][]sample

// errWrong says that a variant did not do what it should, which makes its time worthless.
var errWrong = errors.New("a variant gave a wrong result or none")

// bench makes a cluster, fills it, measures, prints and clears away.
func bench(ctx context.Context, s settings, out io.Writer) error {
	fmt.Fprintf(out, "Starting etcd and kube-apiserver ...\n")
	env, err := startWithoutCollector(ctx)
	if err != nil {
		return err
	}
	return errors.Join(onCluster(ctx, s, env, out), env.Stop())
}

// startWithoutCollector starts an API server that does not collect its garbage on its own while a variant is at work.
func startWithoutCollector(ctx context.Context) (*testenv.Env, error) {
	const name = "GOGC" // which the processes inherit
	before, isSet := os.LookupEnv(name)
	if err := os.Setenv(name, "1000"); err != nil {
		return nil, err
	}
	env, err := testenv.Start(ctx, testenv.Options{CompactionInterval: compaction})
	if isSet {
		return env, errors.Join(err, os.Setenv(name, before))
	}
	return env, errors.Join(err, os.Unsetenv(name))
}

func onCluster(ctx context.Context, s settings, env *testenv.Env, out io.Writer) error {
	client, err := rawClient(env.Config)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Creating %d ConfigMaps and %d Pods ...\n", s.load.ConfigMaps, s.load.Pods)
	start := time.Now()
	if err := s.load.create(ctx, client); err != nil {
		return err
	}
	fmt.Fprintf(out, "Created in %.0f s.\n", time.Since(start).Seconds())
	api, err := newServer(ctx, env.Dir, client)
	if err != nil {
		return err
	}
	stream, err := startStreaming(ctx, env.Dir)
	if err != nil {
		return err
	}
	defer stream.stop()
	t := &trial{settings: s, kubeconfig: env.Kubeconfig, stream: stream, server: api, out: out}
	if err := printHead(ctx, out, api, s); err != nil {
		return err
	}
	if err := t.inTurn(ctx); err != nil {
		return err
	}
	if s.picture != "" {
		if err := os.WriteFile(s.picture, []byte(picture(latest(t.bars))), 0o644); err != nil {
			return err
		}
	}
	if s.only != nil && !s.only.MatchString(managerName) {
		return nil
	}
	return measureManager(ctx, env, s.load, out)
}

// trial measures in one cluster.
type trial struct {
	settings
	kubeconfig string
	stream     *streaming
	server     server
	out        io.Writer
	// before is done before each measurement. Nil is nothing.
	before func(context.Context) error
	bars   []bar // of what was measured so far
}

func (t *trial) chosen() []variant {
	all := slices.Concat(variants(), peers(t.kor, t.k8sCleaner))
	floors := map[string]bool{floorName: true}
	for _, v := range all {
		if t.wants(v) {
			floors[v.floor] = true
			floors[oneRequestName] = floors[oneRequestName] || v.target.server > 0
		}
	}
	return slices.DeleteFunc(all, func(v variant) bool { return !floors[v.name] && !t.wants(v) })
}

func (t *trial) wants(v variant) bool { return t.only == nil || t.only.MatchString(v.name) }

// measureAll measures all variants in turn, several times over, so that what slows the machine down for a while slows
// down all of them. Each round of readers begins and ends with the floor. A variant that fails is not tried again.
func (t *trial) measureAll(ctx context.Context, chosen []variant) (results, error) {
	found, failed := results{}, map[string]bool{}
	order := chosen
	if chosen[0].name == floorName {
		order = append(slices.Clone(chosen), chosen[0])
		if _, err := t.measureOne(ctx, chosen[0]); err != nil { // the server's first answer is slower than all others
			return nil, err
		}
	}
	for round := range t.rounds {
		fmt.Fprintf(t.out, "Round %d of %d:", round+1, t.rounds)
		for _, v := range order {
			if failed[v.name] {
				continue
			}
			one, err := t.measureOne(ctx, v)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				failed[v.name] = true
				fmt.Fprintf(t.out, "\n%s: %v\n", v.name, err)
				continue
			}
			found[v.name] = append(found[v.name], one)
			fmt.Fprintf(t.out, " %.2f", one.Wall.Seconds())
		}
		fmt.Fprintln(t.out, " s")
	}
	if len(failed) > 0 {
		return found, errWrong
	}
	return found, nil
}

// measureOne runs a variant as a process of its own, so that its memory and CPU time are its own.
func (t *trial) measureOne(ctx context.Context, v variant) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, variantTimeout)
	defer cancel()
	if v.prepare != nil {
		if err := v.prepare(ctx, t.server.client); err != nil {
			return sample{}, err
		}
	}
	if v.controller != "" {
		return t.measureController(ctx, v.controller)
	}
	if t.before != nil {
		if err := t.before(ctx); err != nil {
			return sample{}, err
		}
	}
	kubeconfig := t.kubeconfig
	if v.stream > 0 {
		kubeconfig = t.stream.path(v.stream)
	}
	if v.peer != nil {
		return t.measurePeer(ctx, v.peer, kubeconfig)
	}
	cmd := exec.CommandContext(ctx, self, "-variant", v.name, "-kubeconfig", kubeconfig, "-cpuprofile", t.profileOf(v),
		"-pods", strconv.Itoa(t.load.Pods), "-configmaps", strconv.Itoa(t.load.ConfigMaps))
	one, answer, err := t.watch(ctx, cmd)
	if err != nil {
		return sample{}, err
	}
	return one, json.Unmarshal(answer, &one.measured)
}

// watch runs a program, and returns what it took of memory and of the API server, and what it printed.
func (t *trial) watch(ctx context.Context, cmd *exec.Cmd) (one sample, answer []byte, err error) {
	var printed, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &complaint
	one.Server, err = t.server.during(ctx, func() error {
		start := time.Now()
		if err := cmd.Start(); err != nil {
			return err
		}
		family := watchFamily(cmd.Process.Pid)
		err := cmd.Wait()
		one.Wall = time.Since(start)
		if one.Memory = family.stop(); err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
		}
		return nil
	})
	return one, printed.Bytes(), err
}

func (t *trial) profileOf(v variant) string {
	if t.profiles == "" {
		return ""
	}
	return filepath.Join(t.profiles, strings.NewReplacer(" ", "-", ",", "").Replace(v.name)+".pprof")
}
