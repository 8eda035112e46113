// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// peerK8sCleaner is the environment variable that names the manager of k8s-cleaner:
	// https://github.com/gianlucam76/k8s-cleaner. It is measured with its defaults, beside our own Lua.
	peerK8sCleaner = "BENCH_PEER_K8S_CLEANER"
	// peerCleaner is the Cleaner that it gets.
	peerCleaner = "peer"
	// peerStart is the least time that it has to start and to see its Cleaner before that is due.
	peerStart = 25 * time.Second
	// peerLead is how long before that all is made ready to measure: a Pod is changed, for one, and the API server
	// collects its garbage. Longer, and the API server might forget the change.
	peerLead = 5 * time.Second
	// peerRest is how long the API server rests when our CustomResourceDefinitions are back: it describes all kinds anew,
	// which the next variant should not pay for.
	peerRest = 5 * time.Second
	// cleanUpPatience is how long it may take to clear away what k8s-cleaner leaves.
	cleanUpPatience = time.Minute

	reportsPath = "/apis/apps.projectsveltos.io/v1alpha1/reports"
)

// measureController measures a Scan of all Pods by k8s-cleaner. Its CustomResourceDefinitions have the names of ours,
// which are back afterwards. There is no other Cleaner meanwhile: those of other variants come after all readers.
func (t *trial) measureController(ctx context.Context, path string) (one sample, err error) {
	restore, err := installTheirs(ctx, t.server.client)
	if err != nil {
		return sample{}, err
	}
	m, err := t.startK8sCleaner(ctx, path)
	if err == nil {
		one, err = t.scanWith(ctx, m)
		_ = m.stop() // how it ends says nothing about what it found
		if err != nil {
			err = fmt.Errorf("%w; the end of its log:\n%s", err, m.logged())
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpPatience)
	defer cancel()
	return one, errors.Join(err, forget(ctx, t.server.client, cleanersPath), forget(ctx, t.server.client, reportsPath),
		restore(ctx), pause(ctx, peerRest))
}

// startK8sCleaner starts it with default flags, but for addresses, and for the telemetry that it would send.
func (t *trial) startK8sCleaner(ctx context.Context, path string) (*managed, error) {
	dir := filepath.Dir(t.kubeconfig)
	log, err := os.Create(filepath.Join(dir, "k8s-cleaner.log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "--disable-telemetry=true", "--insecure-diagnostics=true",
		"--diagnostics-address=127.0.0.1:0", "--health-addr=127.0.0.1:0")
	// It reads schedules in local time.
	cmd.Env = []string{"KUBECONFIG=" + t.kubeconfig, "NAMESPACE=" + operatorNamespace, "HOME=" + dir, "TZ=UTC"}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &managed{cmd: cmd, started: time.Now(), log: log}, nil
}

// scanWith lets it carry out a Scan that is due at a full minute.
func (t *trial) scanWith(ctx context.Context, m *managed) (sample, error) {
	due := nextMinute(m.started.Add(peerStart))
	if err := createPeerCleaner(ctx, t.server.client, due); err != nil {
		return sample{}, err
	}
	if err := pause(ctx, time.Until(due)-peerLead); err != nil {
		return sample{}, err
	}
	if _, err := memoryOf(m.cmd.Process.Pid); err != nil { // a process that has ended has none
		return sample{}, fmt.Errorf("k8s-cleaner ended before its Cleaner was due: %w", err)
	}
	if t.before != nil {
		if err := t.before(ctx); err != nil {
			return sample{}, err
		}
	}
	return t.watchScan(ctx, m.cmd.Process.Pid, due)
}

// watchScan measures from the moment on when the Cleaner is due, until its Report is there.
func (t *trial) watchScan(ctx context.Context, pid int, due time.Time) (one sample, err error) {
	var waited time.Duration // the API server's CPU time until then
	one.Server, err = t.server.during(ctx, func() error {
		reports, err := t.server.client.Get().AbsPath(reportsPath).Param("watch", "true").Stream(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = reports.Close() }()
		begun, errServer := cpuOf(t.server.pid)
		if time.Now().After(due) {
			return errors.New("the bench was not ready when the Cleaner was due: this machine is too busy")
		}
		if err := errors.Join(errServer, pause(ctx, time.Until(due)), forgetPeak(pid)); err != nil {
			return err
		}
		atDue, errServer := cpuOf(t.server.pid)
		waited = atDue - begun
		before, errBefore := cpuOf(pid)
		family := watchFamily(pid)
		err = awaitReport(reports, t.load)
		one.Wall = time.Since(due)
		one.Memory = family.stop()
		after, errAfter := cpuOf(pid)
		one.CPU = after - before
		return errors.Join(err, errServer, errBefore, errAfter)
	})
	one.Server.CPU -= waited
	return one, err
}

// awaitReport reads what happens to Reports until one has what the Scan should find. A Report that is empty is not
// complete yet.
func awaitReport(events io.Reader, l load) error {
	for decoder := json.NewDecoder(events); ; {
		var event struct {
			Type   string          `json:"type"`
			Object v1alpha1.Report `json:"object"`
		}
		if err := decoder.Decode(&event); err != nil {
			return fmt.Errorf("waiting for the Report of k8s-cleaner: %w", err)
		}
		switch report := event.Object; {
		case event.Type != "ADDED" && event.Type != "MODIFIED":
			return fmt.Errorf("waiting for the Report of k8s-cleaner, the API server said %s", event.Type)
		case report.Name == peerCleaner && len(report.Spec.ResourceInfo) > 0:
			return checkReport(report.Spec, l)
		}
	}
}

// checkReport says what is wrong with the Pods of a Report: it should have those that have succeeded.
func checkReport(report v1alpha1.ReportSpec, l load) error {
	found := map[int]bool{}
	for _, info := range report.ResourceInfo {
		pod := info.Resource
		i := indexOf(pod.Name)
		if pod.Kind != "Pod" || !strings.HasPrefix(pod.Namespace, namespacePrefix) || i < 0 || !hasSucceeded(i) {
			return fmt.Errorf("k8s-cleaner found %s %s/%s, which should not match", pod.Kind, pod.Namespace, pod.Name)
		}
		found[i] = true
	}
	if len(found) != l.succeeded() || len(report.ResourceInfo) != len(found) {
		return fmt.Errorf("k8s-cleaner found %d Pods in %d entries, want %d, each once", len(found),
			len(report.ResourceInfo), l.succeeded())
	}
	return nil
}

// nextMinute is the first full minute that is not before. Its schedules have no seconds.
func nextMinute(earliest time.Time) time.Time {
	return earliest.Add(time.Minute - 1).UTC().Truncate(time.Minute)
}

// createPeerCleaner creates a Cleaner that is due at one moment, and then not for a year.
func createPeerCleaner(ctx context.Context, c rest.Interface, due time.Time) error {
	source, err := readScript("succeeded")
	if err != nil {
		return err
	}
	cleaner := cleanerWith(peerCleaner, "", "")
	cleaner.APIVersion, cleaner.Kind = v1alpha1.GroupVersion.String(), "Cleaner"
	cleaner.Spec.Schedule = fmt.Sprintf("%d %d %d %d *", due.Minute(), due.Hour(), due.Day(), int(due.Month()))
	pods := podSelector()
	pods.Evaluate = source
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{pods}
	cleaner.Spec.Notifications = []v1alpha1.Notification{{Name: "report", Type: v1alpha1.NotificationCleanerReport}}
	body, err := json.Marshal(cleaner)
	if err != nil {
		return err
	}
	if err := c.Post().AbsPath(cleanersPath).Body(body).Do(ctx).Error(); err != nil {
		return fmt.Errorf("creating a Cleaner for k8s-cleaner: %w", err)
	}
	return nil
}

// forget deletes the Cleaner or its Report, also when k8s-cleaner put a finalizer on it.
func forget(ctx context.Context, c rest.Interface, path string) error {
	err := client.IgnoreNotFound(c.Delete().AbsPath(path, peerCleaner).Do(ctx).Error())
	return errors.Join(err, client.IgnoreNotFound(c.Patch(types.MergePatchType).AbsPath(path, peerCleaner).
		Body([]byte(`{"metadata":{"finalizers":null}}`)).Do(ctx).Error()))
}
