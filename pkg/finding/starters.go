// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// mayBeAwaited says which workload may wait for a Job, by its rights: one with a right to the Jobs of the namespace, or
// one beside the Job with a right to all Jobs. Empty when none may.
func (f *Finder) mayBeAwaited(job graph.Name) string {
	if user := firstBut(job, f.at(f.users, readsJobs, job)); user != "" {
		return user + " may read it, and so may wait for it"
	}
	user, unread := firstBut(job, f.runningIn[job.Namespace]), f.unreadOf(rbacKinds...)
	if user != "" && len(unread) > 0 {
		return user + " may wait for it, and " + unread[0].Kind.Kind + "s could not be read"
	}
	return ""
}

// mayBeStarted says who may scale up a workload, or resume a CronJob, by its rights. Empty when nobody may.
func (f *Finder) mayBeStarted(name graph.Name) string {
	right := right{name.GroupKind, false}
	if user := firstBut(name, f.at(f.users, right, name)); user != "" {
		return user + " may start it"
	}
	if account := firstBut(name, f.at(f.granted, right, name)); account != "" {
		return "a Role lets " + account + " start it"
	}
	return ""
}

// doubtIdle makes a finding of what is idle Weak if somebody may start it, and Unknown where rights could not be read.
func (f *Finder) doubtIdle(found *Finding) {
	if found == nil {
		return
	}
	// CronJobs of any namespace may start it, by their commands and by their rights.
	if unread := append(f.unreadOf(rbacKinds...), f.unreadAnywhere(cronJobs)...); len(unread) > 0 {
		found.doubt(unread, "who may start it")
		return
	}
	if why := f.mayBeStarted(nameOf(found)); why != "" && found.Confidence == v1alpha1.ConfidenceCertain {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but " + why
	}
}

// doubt makes a finding Unknown: what could not be read may show otherwise.
func (f *Finding) doubt(unread []Unread, what string) {
	if len(f.Unknown) == 0 {
		f.Reason += ", but it is unknown " + what
	}
	f.Unknown, f.Confidence = slices.Concat(f.Unknown, unread), "" // what many findings share stays as it is
}

// at are who has a right to an object.
func (f *Finder) at(who map[place][]graph.Name, right right, name graph.Name) (found []graph.Name) {
	for _, namespace := range []string{name.Namespace, ""} {
		for _, named := range []string{name.Name, "*"} {
			found = append(found, who[place{right, namespace, named}]...)
		}
	}
	return found
}

// firstBut is the first of the names that is another one. Empty when there is none.
func firstBut(name graph.Name, names []graph.Name) string {
	i := slices.IndexFunc(names, func(other graph.Name) bool { return other != name })
	if i < 0 {
		return ""
	}
	return names[i].String()
}
