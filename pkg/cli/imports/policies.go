// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// policies makes Cleaners of Kyverno's policies that delete, and one of its label.
func (j *job) policies(docs []*manifest.Document) (drafts []*draft, err error) {
	label := &labelled{job: j, counts: map[schema.GroupVersionKind]int{}, wrong: map[string][]*manifest.Document{}}
	add := func(from *manifest.Document, what string, c *v1alpha1.Cleaner) {
		if c == nil {
			return
		}
		text, failed := textOf(c)
		if failed != nil {
			err = failed
		}
		drafts = append(drafts, &draft{from: from, what: what, text: text, cleaner: c, action: v1alpha1.ActionDelete})
	}
	found := false
	j.readFilters(docs)
	j.readExceptions(docs)
	for _, d := range docs {
		if c, is := j.policy(d); is {
			found = true
			add(d, d.Kind()+" "+d.Name()+" of Kyverno", c)
		} else if label.read(d) {
			found = true
		}
	}
	if found {
		label.report()
		add(label.first, "the label "+ttlLabel+" of Kyverno", label.cleaner())
	}
	return drafts, err
}

// isPolicy reports whether a document is a policy of Kyverno's that deletes.
func isPolicy(d *manifest.Document) bool {
	switch group, _, _ := strings.Cut(d.APIVersion(), "/"); group {
	case "kyverno.io":
		return d.Kind() == "CleanupPolicy" || d.Kind() == "ClusterCleanupPolicy"
	case deletingGroup:
		return d.Kind() == "DeletingPolicy" || d.Kind() == "NamespacedDeletingPolicy"
	}
	return false
}

// policy is the Cleaner of a policy of Kyverno's. Nil when it could not be carried over, and false for anything else.
func (j *job) policy(d *manifest.Document) (c *v1alpha1.Cleaner, is bool) {
	switch {
	case !isPolicy(d):
		return nil, false
	case strings.HasSuffix(d.Kind(), "CleanupPolicy"):
		return j.cleanup(d), true
	}
	return j.deleting(d), true
}
