// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// eventsOf are the notes of the page's Events about a Cleaner.
func eventsOf(t *testing.T, c client.Client, of *v1alpha1.Cleaner) (notes []string) {
	t.Helper()
	var all eventsv1.EventList
	must(t, c.List(t.Context(), &all, client.InNamespace("default")))
	for _, event := range all.Items {
		if event.Regarding.UID == of.UID && event.ReportingController == "kubecleaner/dashboard" {
			notes = append(notes, event.Reason+": "+event.Note)
		}
	}
	slices.Sort(notes)
	return notes
}

// TestActionsLeaveEvents does each action, which must leave an Event with the person's name.
func TestActionsLeaveEvents(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	v := visit(t, env.Config)
	path := "cleaners/" + of.Name
	v.wants(http.StatusAccepted, http.MethodPost, path+"/trigger", nil, nil)
	v.wants(http.StatusOK, http.MethodPost, path+"/suspend", nil, nil)
	v.wants(http.StatusOK, http.MethodPost, path+"/resume", nil, nil)
	var detail CleanerDetail
	v.wants(http.StatusOK, http.MethodGet, path, nil, &detail)
	v.wants(http.StatusOK, http.MethodPut, path+"?dryRun=true", Manifest{YAML: detail.YAML}, nil)
	v.wants(http.StatusOK, http.MethodPut, path, Manifest{YAML: detail.YAML}, nil)
	want := "Resumed: admin resumed Cleaner NAME\nRunRequested: admin asked for a run of Cleaner NAME\n" +
		"Saved: admin saved Cleaner NAME\nSuspended: admin suspended Cleaner NAME"
	if got := strings.Join(eventsOf(t, c, of), "\n"); got != strings.ReplaceAll(want, "NAME", of.Name) {
		t.Errorf("the Events are\n%s", got)
	}
}

// TestCreatingLeavesAnEvent: it is no mere saving.
func TestCreatingLeavesAnEvent(t *testing.T) {
	c := admin(t)
	made := cleaner(t, c, namespace(t, c), nil)
	must(t, c.Delete(t.Context(), made))
	made.ResourceVersion, made.UID = "", ""
	v := visit(t, env.Config)
	v.wants(http.StatusCreated, http.MethodPost, "cleaners?dryRun=true", made, nil)
	v.wants(http.StatusCreated, http.MethodPost, "cleaners", made, nil)
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	if got := strings.Join(eventsOf(t, c, made), "\n"); got != "Created: admin created Cleaner "+made.Name {
		t.Errorf("the Events are\n%s", got)
	}
}
