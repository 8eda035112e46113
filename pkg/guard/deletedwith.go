// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// owners are the kinds, by group, whose objects own others as a matter of course. The garbage collector deletes those
// with them.
var owners = map[string][]string{
	"":      {"ReplicationController"},
	"apps":  {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"batch": {"CronJob", "Job"},
}

// TakesContent reports whether with objects of a kind goes what people keep in them.
func TakesContent(kind object.Kind) bool { return IsNamespace(kind.Group, kind.Kind) || isClaim(kind) }

// isClaim: most StorageClasses say that a volume is deleted with its claim, also one that is orphaned.
func isClaim(kind object.Kind) bool { return kind.Group == "" && kind.Kind == "PersistentVolumeClaim" }

// DeletedWith says, in sentences, what is deleted together with objects of the kinds although no run judged or copied
// it, or is left over. Empty when that is nothing, or what anybody's objects may own: which is not known.
func DeletedWith(kinds []object.Kind, options *v1alpha1.DeleteOptions) string {
	var policy metav1.DeletionPropagation // empty: the API server's default
	if options != nil {
		policy = ptr.Deref(options.PropagationPolicy, "")
	}
	var parts []string
	leaves := ""
	seen := map[object.Kind]bool{}
	for _, kind := range kinds {
		kind.Version = "" // the text is the same for each version
		if seen[kind] {
			continue
		}
		seen[kind] = true
		if kind.Group == "batch" && kind.Kind == "Job" && policy == "" {
			// The API server's own rule for this kind, kept for clients of old.
			leaves = "The Pods of a Job stay, without an owner (deleteOptions.propagationPolicy: Background deletes them as well)."
		} else if part := takes(kind, policy); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return leaves
	}
	text := strings.Join(parts, "; ")
	text = strings.ToUpper(text[:1]) + text[1:] + ". No copy of this is kept."
	return strings.TrimSuffix(text+" "+leaves, " ")
}

// takes says what an object of the kind takes along. Empty when that is nothing, or not known.
func takes(kind object.Kind, policy metav1.DeletionPropagation) string {
	switch {
	case IsNamespace(kind.Group, kind.Kind):
		return fmt.Sprintf("everything in a %s is deleted with it", kind.Kind)
	case isClaim(kind):
		return "the data of its volume is deleted with a PersistentVolumeClaim (persistentVolumeReclaimPolicy: Retain keeps it)"
	case policy != metav1.DeletePropagationOrphan && slices.Contains(owners[kind.Group], kind.Kind):
		return fmt.Sprintf("what a %s owns is deleted with it (deleteOptions.propagationPolicy: Orphan keeps it)", kind.Kind)
	}
	return ""
}
