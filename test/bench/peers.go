// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// peerKor is the environment variable that names the program kor: https://github.com/yonahd/kor. It is measured as it
// comes, with its defaults, beside our own search for the same.
const peerKor = "BENCH_PEER_KOR"

// peer is the program of another project.
type peer struct {
	path string
	args []string
	// check says what is wrong with what it printed.
	check func(output []byte, l load) error
}

// peers are the variants that other programs carry out. Empty when none is given.
func peers(kor, k8sCleaner string) (all []variant) {
	if kor != "" {
		all = append(all, variant{
			name:   "kor: unused ConfigMaps",
			peer:   &peer{path: kor, args: []string{"configmap", "--output", "json"}, check: checkKor},
			proves: "The same search by kor, with its defaults: compare it with the row of orphaned ConfigMaps.",
		})
	}
	if k8sCleaner != "" {
		all = append(all, variant{
			name:       "k8s-cleaner: Lua, per Pod",
			controller: k8sCleaner,
			proves: "A Scan by k8s-cleaner, with the script of the row Lua, per Pod: the time from when it was due until its " +
				"Report is there.",
		})
	}
	return all
}

// checkKor says what is wrong with the ConfigMaps of the load that kor calls unused. For kor, a Pod that has ended uses
// what it names; for us it does not. Its JSON has namespaces, kinds and names.
func checkKor(output []byte, l load) error {
	start := strings.IndexByte(string(output), '{') // a banner may come before
	if start < 0 {
		return fmt.Errorf("kor printed no JSON: %.200s", output)
	}
	var found map[string]map[string][]string
	if err := json.Unmarshal(output[start:], &found); err != nil {
		return fmt.Errorf("reading what kor printed: %w", err)
	}
	unused := 0
	for namespace, kinds := range found {
		if !strings.HasPrefix(namespace, namespacePrefix) {
			continue
		}
		for _, name := range kinds["ConfigMap"] {
			if name == "kube-root-ca.crt" {
				continue
			}
			if unused++; l.isInUse(indexOf(name)) {
				return fmt.Errorf("kor calls %s/%s unused, which a Pod uses", namespace, name)
			}
		}
	}
	if least := l.ConfigMaps - l.used(); unused < least {
		return fmt.Errorf("kor found %d unused ConfigMaps, want at least the %d that no Pod names", unused, least)
	}
	return nil
}

// measurePeer runs the program of another project.
func (t *trial) measurePeer(ctx context.Context, p *peer, kubeconfig string) (sample, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+kubeconfig)
	one, printed, err := t.watch(ctx, cmd)
	if err != nil {
		return sample{}, err
	}
	one.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return one, p.check(printed, t.load)
}
