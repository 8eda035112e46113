// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// MaxLog is how long the log of one container may be, in bytes.
	MaxLog = 64 << 10
	// maxLogs is how long the logs of one object may be, as scripts get them, in bytes.
	maxLogs = 2 << 20
	// defaultTail is how many lines are read.
	defaultTail = 50
)

func checkLogs(spec *v1alpha1.ResourceSelector) []error {
	if spec.LogSource != nil && (spec.Group != "" || spec.Kind != "Pod") {
		return []error{errors.New("logSource is for Pods only (group \"\", kind Pod); remove it, nothing else has logs")}
	}
	return nil
}

// Log is one log of a Pod.
type Log struct {
	Container string
	// Previous is set for the log of the container's earlier instance.
	Previous bool
	// Restarted is true when the container had an earlier instance, so that there was a log before.
	Restarted bool
	// Tail is how many lines of it are wanted.
	Tail int64
	Text string
}

// LogsOf says which logs of a Pod a source asks for. A container that the Pod does not have has none, and so has the
// earlier instance of one that has not restarted. None at all mean that the Pod has none of the containers.
func LogsOf(pod object.Object, source *v1alpha1.LogSource) ([]Log, error) {
	var read corev1.Pod
	if err := json.Unmarshal(pod.Raw, &read); err != nil {
		return nil, fmt.Errorf("reading the Pod's containers: %w", err)
	}
	var names []string
	for i := range read.Spec.Containers {
		names = append(names, read.Spec.Containers[i].Name)
	}
	if len(source.Containers) > 0 { // which may be any
		for i := range read.Spec.InitContainers {
			names = append(names, read.Spec.InitContainers[i].Name)
		}
		for i := range read.Spec.EphemeralContainers {
			names = append(names, read.Spec.EphemeralContainers[i].Name)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(source.Containers, name) })
	}
	slices.Sort(names)
	restarted := map[string]bool{}
	for _, status := range slices.Concat(read.Status.ContainerStatuses, read.Status.InitContainerStatuses,
		read.Status.EphemeralContainerStatuses) {
		restarted[status.Name] = status.RestartCount > 0
	}
	tail := min(ptr.Deref(source.TailLines, defaultTail), MaxLog) // more lines, of a byte at least, are longer than MaxLog
	var logs []Log
	for _, name := range names {
		logs = append(logs, Log{Container: name, Tail: tail, Restarted: restarted[name]})
		if ptr.Deref(source.Previous, false) && restarted[name] {
			logs = append(logs, Log{Container: name, Tail: tail, Restarted: true, Previous: true})
		}
	}
	return logs, nil
}

// lost is what a node answers in the place of a log that it does not have any more.
var lost = regexp.MustCompile(
	`^(unable to retrieve container logs for [a-z0-9.+-]+://\S+|failed to try resolving symlinks in path "[^"]*": [^\n]*)\s*$`,
)

// IsLost reports whether a text is not a log, but a node's word that it has none any more.
func IsLost(text string) bool { return lost.MatchString(text) }

// LogSize is how long a log is as scripts get it, in bytes: they get it twice.
func LogSize(text string) int { return 2 * jsonSize(text) }

// CheckSize says that the logs of an object are too long together, by their size so far. What is written down takes a
// multiple of the memory of what is read.
func CheckSize(size int) error {
	if size > maxLogs {
		return fmt.Errorf("the logs of the Pod are longer than %d MiB together; name fewer containers", maxLogs>>20)
	}
	return nil
}

// WriteLogs writes down the logs of one Pod as JSON: a map with the texts logs and logsPrevious, and the maps
// logsByContainer and logsPreviousByContainer.
func WriteLogs(logs []Log) (object.JSON, error) {
	data := map[string]any{}
	for _, previous := range []bool{false, true} {
		name := map[bool]string{false: "logs", true: "logsPrevious"}[previous]
		by := map[string]string{}
		var of []Log
		for _, log := range logs {
			if log.Previous == previous {
				of = append(of, log)
				by[log.Container] = log.Text
			}
		}
		data[name], data[name+"ByContainer"] = together(of), by
	}
	written, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("writing down the logs: %w", err)
	}
	return written, CheckSize(len(written))
}

// together is the text of one log, or of several, one below the other with their names.
func together(logs []Log) string {
	if len(logs) == 1 {
		return logs[0].Text
	}
	var all strings.Builder
	for _, log := range logs {
		fmt.Fprintf(&all, "==> %s <==\n%s", log.Container, log.Text)
		if log.Text != "" && !strings.HasSuffix(log.Text, "\n") {
			all.WriteString("\n")
		}
	}
	return all.String()
}
