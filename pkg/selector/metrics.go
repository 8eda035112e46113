// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// metrics are the results of the selector's queries, which are asked once. It returns nil when nobody wants them.
func (s *Selector) metrics(ctx context.Context) (object.JSON, error) {
	if !s.spec.WantsMetrics() {
		return nil, nil
	}
	if given := s.judge.Given; given != nil && given.Metrics != nil {
		return given.Metrics, nil
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.asked != nil {
		return s.asked, nil
	}
	if s.judge.Metrics == nil || s.reader == nil {
		return nil, errors.New(
			"metricQueries: there are no metrics here: they are asked for by kubectl cleaner preview on a cluster, and in a test they are in its metrics.yaml",
		)
	}
	// Before a Secret is read: it may go nowhere.
	if err := s.judge.Metrics.Allow(&s.spec); err != nil {
		return nil, err
	}
	var credentials map[string][]byte
	if ref := s.spec.MetricSource.SecretRef; ref != nil {
		var err error
		if credentials, err = s.reader.secret(ctx, ref.Namespace, ref.Name); err != nil {
			return nil, fmt.Errorf("metricSource.secretRef: %w", err)
		}
	}
	var err error
	s.asked, err = s.judge.Metrics.Ask(ctx, &s.spec, credentials)
	return s.asked, err
}

// secret reads what a Secret holds.
func (r *Reader) secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	kind := object.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"),
		Resource:         "secrets",
		Namespaced:       true,
	}
	body, err := r.get(ctx, kind.Path(namespace, name))
	if apiserver.IsAbsent(err, name) {
		return nil, fmt.Errorf("there is no Secret %s/%s", namespace, name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", namespace, name, err)
	}
	var secret corev1.Secret
	if json.Unmarshal(body, &secret) != nil || secret.Kind != "Secret" || secret.Name != name { // the error may quote it
		return nil, fmt.Errorf("the answer to reading Secret %s/%s is no Secret", namespace, name)
	}
	return secret.Data, nil
}
