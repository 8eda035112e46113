// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// deletes reports whether the source of a Cleaner deletes or changes objects.
func (d *draft) deletes() bool { return d.action != v1alpha1.ActionScan }

// reportDifferences says once what KubeCleaner does in another way than the tool, where that concerns a Cleaner that
// was written.
func (j *job) reportDifferences(from source, written []*draft) {
	acting := slices.DeleteFunc(slices.Clone(written), func(d *draft) bool { return !d.deletes() })
	if len(acting) > 0 {
		j.reportActing(from, acting)
	}
	if from.hasZone && slices.ContainsFunc(written, func(d *draft) bool { return dependsOnZone(&d.cleaner.Spec) }) {
		j.differsAll(fmt.Sprintf("schedules are in UTC; %s takes the time zone of its Pod: if that is another one, set spec.timeZone",
			from.title))
	}
	isExcepted := func(d *draft) bool { return strings.HasSuffix(d.from.Kind(), "DeletingPolicy") }
	if len(j.exceptions) == 0 && slices.ContainsFunc(written, isExcepted) {
		j.differsAll("a PolicyException keeps objects from a DeletingPolicy; none was found to import: if you use them, import them " +
			"together with the policies")
	}
	for _, kind := range []string{"CleanupPolicy", "NamespacedDeletingPolicy"} {
		if slices.ContainsFunc(written, func(d *draft) bool { return d.from.Kind() == kind }) {
			j.differsAll(fmt.Sprintf("a %s belongs to a namespace, and a Cleaner to none: whoever may create Cleaners can choose objects "+
				"of every namespace; spec.serviceAccountRef keeps one to the rights of an account", kind))
		}
	}
}

// reportActing says what differs when Cleaners delete.
func (j *job) reportActing(from source, acting []*draft) {
	if j.keepAction {
		j.differsAll(fmt.Sprintf("%s continues to run next to these Cleaners: %s when you apply them", from.title, from.stop))
	} else {
		j.differsAll(fmt.Sprintf("%s acts at once; these Cleaners only report: when their reports are right, import again with --keep-action",
			from.title))
	}
	j.differsAll(copies(from, acting))
	j.differsAll("an object that changed after it was found is judged again before it is deleted, and a run that cannot read everything " +
		"touches nothing")
	if slices.ContainsFunc(acting, func(d *draft) bool { return mayMeetProtected(&d.cleaner.Spec) }) {
		j.differsAll("protected objects are left alone, such as everything in kube-system; " +
			terminal.Docs + "how-to/protection.md has the list")
	}
}

// copies says of what copies are kept.
func copies(from source, acting []*draft) string {
	var lacking []string
	for _, d := range acting {
		c := d.cleaner.DeepCopy()
		c.Spec.Action = ptr.To(d.action)                                       // a Scan keeps none
		for words := range strings.SplitSeq(journal.MayLackCopies(c), norOf) { // Cleaners may have kinds in common
			if words != "" && !slices.Contains(lacking, words) {
				lacking = append(lacking, words)
			}
		}
	}
	text := fmt.Sprintf("%s keeps %s; KubeCleaner keeps a copy of what it deletes or changes for %d days (%s restore)",
		from.title, from.copies, v1alpha1.DefaultRetention/(24*time.Hour), terminal.Program)
	if len(lacking) > 0 {
		text += ", but no copy of " + strings.Join(lacking, norOf)
	}
	return text
}

// norOf stands between the objects of which a Cleaner keeps no copies.
const norOf = "; nor of "

// mayMeetProtected reports whether a Cleaner looks into more than one namespace that is not protected.
func mayMeetProtected(spec *v1alpha1.CleanerSpec) bool {
	return slices.ContainsFunc(spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return s.Namespace == "" || slices.Contains(strings.Split(guard.DefaultProtectedNamespaces, ","), s.Namespace)
	})
}

// dependsOnZone reports whether a schedule means another time in another zone.
func dependsOnZone(spec *v1alpha1.CleanerSpec) bool {
	if spec.TimeZone != nil || strings.Contains(spec.Schedule, "TZ=") {
		return false
	}
	fields := strings.Fields(spec.Schedule)
	if len(fields) == 5 {
		return slices.ContainsFunc(fields[1:], func(field string) bool { return field != "*" })
	}
	return len(fields) == 1 && spec.Schedule != "@hourly"
}
