// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

const (
	onlyMetadata     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	onlyMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	// watchSeconds is when a watch begins anew: then the API server looks again at what the person may.
	watchSeconds = "240"
)

// events streams changes. There is nothing to read in the request.
func events(*http.Request) (streams, error) { return watchAll, nil }

// watchAll reports which Cleaners and runs change, as watches of the person see it.
func watchAll(ctx context.Context, p *person, to *stream) {
	var watches sync.WaitGroup
	for event, path := range map[string]string{"cleaners": cluster.CleanerPath(""), "runs": cluster.RunPath("")} {
		watches.Go(func() {
			for ctx.Err() == nil {
				err := watchOnce(ctx, p, path, func(e StreamEvent) error { return to.send(event, e) })
				if err == nil {
					continue
				}
				f := failureOf(err)
				if ctx.Err() != nil || to.send("error", StreamEvent{Type: "ERROR", Name: event, Error: &f.Body}) != nil {
					return
				}
				if slices.Contains([]int{http.StatusForbidden, http.StatusUnauthorized, http.StatusNotFound}, f.Status) {
					return
				}
				wait(ctx, cluster.Rewatch)
			}
		})
	}
	watches.Wait()
	<-ctx.Done() // without rights, the stream stays: the page need not connect again and again
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchOnce watches from now on, until the watch ends. First it says that everything is to be read again.
func watchOnce(ctx context.Context, p *person, path string, each func(StreamEvent) error) error {
	request := p.api.Raw.Get().AbsPath(path).Param("limit", "1").SetHeader("Accept", onlyMetadataList)
	body, err := cluster.Send(ctx, request)
	if err != nil {
		return err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	if err := each(StreamEvent{Type: "RESET"}); err != nil {
		return err
	}
	watched, err := p.api.Raw.Get().AbsPath(path).Param("watch", "true").Param("resourceVersion", list.ResourceVersion).
		Param("timeoutSeconds", watchSeconds).SetHeader("Accept", onlyMetadata).Stream(ctx)
	if err != nil {
		return err
	}
	defer watched.Close()
	for decoder := json.NewDecoder(watched); ; {
		var change struct {
			Type   string                       `json:"type"`
			Object metav1.PartialObjectMetadata `json:"object"`
		}
		if err := decoder.Decode(&change); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if change.Type == "ERROR" {
			return nil
		}
		if err := each(StreamEvent{Type: change.Type, Name: change.Object.Name}); err != nil {
			return err
		}
	}
}
