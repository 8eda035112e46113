// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
)

// maxNote is how long the note of an Event may be.
const maxNote = 1024

const (
	// auditor is what the page's Events say of who reports them.
	auditor = "kubecleaner/dashboard"
	// byAnnotation on such an Event is the person's name.
	byAnnotation = "apps.projectsveltos.io/by"
)

// deed is what a person did: in a word, and in words that stand behind the name.
type deed struct {
	reason, text string
	// set are the annotations that it put on a Cleaner: they say which run the deed is of.
	set map[string]string
}

// audit says who did what: in the server's log, and in an Event that the person makes. The role of editors has the
// right for that. Without it there is only the log, and the API server's own audit log, in which every request of this
// page has the person's name.
func (s *Server) audit(ctx context.Context, p *person, about corev1.ObjectReference, did deed) {
	ctx = context.WithoutCancel(ctx) // it is done, also for a browser that is gone
	user, err := p.review(ctx)
	log := s.Log.WithValues("user", user.Username, "reason", did.reason, "object", about.Kind+"/"+about.Name)
	log.Info("A person acted")
	event := eventsv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		// Events about what has no namespace are in default. The API server adds to the name; it takes no point at its end.
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: about.Name[:min(len(about.Name), 200)] + "-",
			Namespace:    metav1.NamespaceDefault,
			Annotations:  map[string]string{byAnnotation: user.Username},
		},
		EventTime:           metav1.NewMicroTime(s.Now()),
		ReportingController: auditor,
		ReportingInstance:   "dashboard",
		Action:              did.reason,
		Reason:              did.reason,
		Regarding:           about,
		Type:                corev1.EventTypeNormal,
		Note:                v1alpha1.Truncate(fmt.Sprintf("%s %s", user.Username, did.text), maxNote),
	}
	maps.Copy(event.Annotations, did.set)
	body, errBody := json.Marshal(event)
	if err = firstOf(err, errBody); err == nil {
		_, err = cluster.Send(ctx, p.api.Raw.Post().AbsPath("/apis/events.k8s.io/v1/namespaces/default/events").Body(body))
	}
	if err != nil {
		log.V(1).Info("Could not make an Event", "error", err.Error())
	}
}

func cleanerRef(c *v1alpha1.Cleaner) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner", Name: c.Name, UID: c.UID,
		ResourceVersion: c.ResourceVersion,
	}
}

func runRef(run *v1alpha1.CleanerRun) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "CleanerRun", Name: run.Name, UID: run.UID,
	}
}

// restoredText names the first objects that a restore brought back, and says how many they are.
func restoredText(plan *RestorePlan) string {
	const named = 3
	var names []string
	n := 0
	for _, o := range plan.Objects {
		if o.Outcome != string(restore.Restored) {
			continue
		}
		if n++; n <= named {
			names = append(names, strings.TrimSpace(o.Kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")))
		}
	}
	text := fmt.Sprintf("restored %s of run %s", terminal.Grouped(int64(n), "object"), plan.Run)
	if n == 0 {
		return text
	}
	text += ": " + strings.Join(names, ", ")
	if n > named {
		text += fmt.Sprintf(" and %d more", n-named)
	}
	return text
}
