// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Ending says what an object that is being deleted still waits for.
func Ending(o object.Object) string {
	if what := held(o); what != "" {
		return what
	}
	return "it is being deleted"
}

// held names what holds an object that is being deleted: finalizers, and its grace period. Empty when nothing does.
func held(o object.Object) string {
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return ""
	}
	var parts []string
	if finalizers := slices.Concat(metadata.Finalizers, namespaceFinalizers(o)); len(finalizers) > 0 {
		parts = append(parts, "finalizers hold it: "+strings.Join(finalizers, ", "))
	}
	if seconds := metadata.DeletionGracePeriodSeconds; seconds != nil && *seconds > 0 {
		parts = append(parts, fmt.Sprintf("its grace period is %d s", *seconds))
	}
	return strings.Join(parts, "; ")
}

// already says of an object that was being deleted before the run since when it is, and what holds it.
func already(o object.Object) string {
	text := "it was being deleted already"
	metadata, err := apiserver.Metadata(o)
	if err != nil || metadata.DeletionTimestamp == nil {
		return text
	}
	since := metadata.DeletionTimestamp.Time // when the grace period is over
	if seconds := metadata.DeletionGracePeriodSeconds; seconds != nil {
		since = since.Add(-time.Duration(*seconds) * time.Second)
	}
	text += ", since " + since.UTC().Format(time.RFC3339)
	if what := held(o); what != "" {
		text += "; " + what
	}
	return text
}

// namespaceFinalizers are those in the spec of a Namespace, which no other kind has: until its content is gone.
func namespaceFinalizers(o object.Object) []string {
	var namespace corev1.Namespace
	if o.Kind.Group != "" || o.Kind.Kind != "Namespace" || json.Unmarshal(o.Raw, &namespace) != nil {
		return nil
	}
	names := make([]string, 0, len(namespace.Spec.Finalizers))
	for _, name := range namespace.Spec.Finalizers {
		names = append(names, string(name))
	}
	return names
}
