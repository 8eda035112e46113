// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify tells people, on the channels they chose, what a run did. A channel that fails never fails the run or
// another channel.
package notify

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Message is what is told about a run.
type Message struct {
	Cleaner *v1alpha1.Cleaner
	Run     *v1alpha1.CleanerRun
	// Outcomes are all the objects of the run, those too that the record had no room for.
	Outcomes []object.Outcome
}

// Channel delivers a message, or says why it could not.
type Channel func(ctx context.Context, message Message) error

// Told are the outcomes that the record lists, without the objects' bytes.
func (m Message) Told() []object.Outcome {
	outcomes := make([]object.Outcome, 0, len(m.Run.Status.Objects))
	for _, entry := range m.Run.Status.Objects {
		outcome := object.Outcome{Result: entry.Outcome, Detail: entry.Reason}
		outcome.Kind.GroupVersionKind = schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind)
		outcome.Namespace, outcome.Name, outcome.UID, outcome.Message = entry.Namespace, entry.Name, entry.UID, entry.Message
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}
