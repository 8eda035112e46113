// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// logTimeout is how long one log may take.
	logTimeout = 30 * time.Second
	// maxReadings is of how many Pods the logs are read at once.
	maxReadings = 16
)

// Pods with these errors do not match: one is not there any more; of the other, nothing can be said by its logs.
var (
	errGone     = errors.New("the Pod is gone")
	errUnlogged = errors.New("the Pod has none of the containers that logSource names")
	errSlowLog  = fmt.Errorf("it did not come within %s", logTimeout)
)

// hasLogs is false for an error of a Pod that does not match.
func hasLogs(err error) bool { return !errors.Is(err, errGone) && !errors.Is(err, errUnlogged) }

// logs reads the logs of a Pod, one after the other. It returns nil when nobody wants them.
func (s *Selector) logs(ctx context.Context, pod object.Object) (object.JSON, error) {
	if s.spec.LogSource == nil {
		return nil, nil
	}
	read := s.reader.log
	if given := s.judge.Given; given != nil && given.Log != nil {
		read = func(_ context.Context, pod object.Object, wanted inputs.Log) (string, error) {
			return given.Log(pod, wanted)
		}
	} else if s.reader == nil {
		return nil, errors.New(
			"logSource: there are no logs here: they are read by kubectl cleaner preview on a cluster, and in a test they are in its logs.yaml",
		)
	}
	wanted, err := inputs.LogsOf(pod, s.spec.LogSource)
	if err != nil {
		return nil, fmt.Errorf("logSource: %w", err)
	}
	if len(wanted) == 0 {
		return nil, errUnlogged
	}
	if err := readLogs(ctx, pod, wanted, read); err != nil {
		return nil, err
	}
	data, err := inputs.WriteLogs(wanted)
	if err != nil {
		return nil, fmt.Errorf("logSource: %w", err)
	}
	return data, nil
}

// readLogs reads the texts of logs, until they are too long together.
func readLogs(
	ctx context.Context,
	pod object.Object,
	wanted []inputs.Log,
	read func(context.Context, object.Object, inputs.Log) (string, error),
) (err error) {
	size := 0
	for i := range wanted {
		if wanted[i].Text, err = read(ctx, pod, wanted[i]); errors.Is(err, errGone) {
			return err
		} else if err != nil {
			return fmt.Errorf("logSource: reading the log of container %s: %w", wanted[i].Container, err)
		}
		size += inputs.LogSize(wanted[i].Text)
		if err := inputs.CheckSize(size); err != nil {
			return fmt.Errorf("logSource: %w", err)
		}
	}
	return nil
}

// log reads the last lines of a log: as many as are wanted, or as are not too long together. Of a single line that is
// too long, it is the beginning. A container that has not written anything yet has an empty one.
func (r *Reader) log(ctx context.Context, pod object.Object, wanted inputs.Log) (string, error) {
	for tail := wanted.Tail; ; tail = max(1, tail/2) {
		text, err := r.logTail(ctx, pod, wanted, tail)
		switch {
		case apierrors.IsNotFound(err):
			return "", r.notFound(ctx, pod, err)
		case err != nil && hasNoLog(err, wanted):
			return "", nil
		case err != nil:
			return "", err
		case inputs.IsLost(text):
			return "", errors.New("its node does not have this log any more")
		case len(text) <= inputs.MaxLog:
			return text, nil
		case tail == 1:
			return text[:inputs.MaxLog], nil
		}
	}
}

// notFound is why there is no log. It may be the Pod's node that does not know the Pod, which does not mean that it is
// gone.
func (r *Reader) notFound(ctx context.Context, pod object.Object, err error) error {
	body, gone := r.get(ctx, pod.Kind.Path(pod.Namespace, pod.Name))
	if apiserver.IsAbsent(gone, pod.Name) {
		return errGone
	}
	if gone != nil {
		return gone
	}
	now, wrong := object.New(pod.Kind, body)
	if wrong != nil {
		return wrong
	}
	if now.UID != pod.UID {
		return errGone
	}
	return err
}

// logTail reads a log's last lines, up to one byte more than a log may have: the server leaves out what comes after,
// the newest.
func (r *Reader) logTail(ctx context.Context, pod object.Object, wanted inputs.Log, tail int64) (string, error) {
	path := pod.Kind.Path(pod.Namespace, pod.Name) + "/log"
	if err := apiserver.CheckPath(path); err != nil {
		return "", err
	}
	request := r.request(path).SetHeader("Accept", "application/json, */*").
		Param("container", wanted.Container).
		Param("tailLines", strconv.FormatInt(tail, 10)).Param("limitBytes", strconv.Itoa(inputs.MaxLog+1))
	if wanted.Previous {
		request = request.Param("previous", "true")
	}
	var text []byte
	worth := func(err error) bool { return mayPass(err) && !errors.Is(err, errSlowLog) } // its node may never answer
	err := r.persist(ctx, worth, func() (err error) {
		text, err = readLog(ctx, request)
		return err
	})
	return string(text), err
}

// readLog asks for a log once.
func readLog(ctx context.Context, request *rest.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, logTimeout, errSlowLog)
	defer cancel()
	body, err := request.Stream(ctx)
	if err == nil {
		defer func() { _ = body.Close() }()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(body, inputs.MaxLog+1)); err == nil {
			return text, nil
		}
	}
	if stopped := context.Cause(ctx); stopped != nil {
		return nil, stopped
	}
	return nil, err
}

// hasNoLog reports whether an error is the server's word that there is no log yet, because the container has not
// started. Its words are the kubelet's, which has no other way to say so. Of one that had an earlier instance they mean
// that the log is lost.
func hasNoLog(err error, wanted inputs.Log) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusBadRequest {
		return false
	}
	return !wanted.Restarted && strings.Contains(status.Status().Message, " is waiting to start")
}

// reading is a Pod whose logs are being read.
type reading struct {
	pod   object.Object
	place int64
	// so is what is known of it already.
	so   judgement
	logs object.JSON
	err  error
	done chan struct{}
}

// read begins to read the logs of a Pod, when there is a place for it.
func (c *collector) read(ctx context.Context, pod object.Object, so judgement) error {
	if len(c.readings) == maxReadings {
		if err := c.settle(ctx); err != nil {
			return err
		}
	}
	pod.Raw = slices.Clone(pod.Raw) // which is the list's
	one := &reading{pod: pod, place: c.added, so: so, done: make(chan struct{})}
	c.readings = append(c.readings, one)
	go func() {
		defer close(one.done)
		one.err = fault.Logged(ctx, func() (err error) {
			one.logs, err = c.selector.logs(ctx, one.pod)
			return err
		})
	}()
	return nil
}

// settle waits for the logs of the Pod that has been waiting longest, and judges it.
func (c *collector) settle(ctx context.Context) error {
	first := c.readings[0]
	c.readings = c.readings[1:]
	<-first.done // which the context ends
	if c.stale {
		return nil
	}
	so, err := c.selector.late(ctx, first.pod, first.so, first.logs, first.err)
	return c.askScript(ctx, first.pod, first.place, so, err)
}
