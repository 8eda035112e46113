// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

const notIntact = "nothing was changed: " + cluster.StaysLost

func (s *Server) createCleaner(r *http.Request, p *person) (int, any, error) {
	c, err := manifestIn(r)
	if err != nil {
		return 0, nil, err
	}
	saved, err := s.save(r, p, p.api.Raw.Post().AbsPath(cluster.CleanerPath("")), c)
	return http.StatusCreated, saved, err
}

func (s *Server) updateCleaner(r *http.Request, p *person) (int, any, error) {
	c, err := manifestIn(r)
	if err != nil {
		return 0, nil, err
	}
	name := r.PathValue("name")
	if c["metadata"] == nil {
		c["metadata"] = map[string]any{"name": name}
	}
	metadata, ok := c["metadata"].(map[string]any)
	if !ok || metadata["name"] != name {
		return 0, nil, badRequest("metadata.name must be %q: a Cleaner cannot be renamed", name)
	}
	live, err := readCleaner(r.Context(), p, name)
	if err != nil {
		return 0, nil, err
	}
	if metadata["resourceVersion"] == nil {
		metadata["resourceVersion"] = live.ResourceVersion
	}
	keepApplied(metadata, live)
	saved, err := s.save(r, p, p.api.Raw.Put().AbsPath(cluster.CleanerPath(name)), c)
	return http.StatusOK, saved, err
}

// keepApplied puts back what the page does not show: with it, kubectl apply knows which fields it set itself, and
// deletes those that are no longer in its file.
func keepApplied(metadata map[string]any, live *v1alpha1.Cleaner) {
	applied, isApplied := live.Annotations[corev1.LastAppliedConfigAnnotation]
	if metadata["annotations"] == nil {
		metadata["annotations"] = map[string]any{}
	}
	annotations, ok := metadata["annotations"].(map[string]any) // the API server refuses what is none
	if ok && isApplied && annotations[corev1.LastAppliedConfigAnnotation] == nil {
		annotations[corev1.LastAppliedConfigAnnotation] = applied
	}
}

// manifestIn is the Cleaner of a request: YAML in a Manifest, or the Cleaner itself. Fields that are not known are left
// for the API server to refuse.
func manifestIn(r *http.Request) (map[string]any, error) {
	var body, c map[string]any
	if err := read(r, &body); err != nil {
		return nil, err
	}
	c = body
	if text, ok := body["yaml"].(string); ok {
		c = nil
		if err := yaml.Unmarshal([]byte(text), &c); err != nil {
			return nil, badRequest("the YAML cannot be read: %s", terminal.OneLine(err.Error()))
		}
	}
	if len(c) == 0 {
		return nil, badRequest("there is no Cleaner in the request")
	}
	if c["apiVersion"] == nil && c["kind"] == nil { // as k8s-cleaner's page sends it
		c["apiVersion"], c["kind"] = v1alpha1.GroupVersion.String(), "Cleaner"
	}
	if c["kind"] != "Cleaner" || c["apiVersion"] != v1alpha1.GroupVersion.String() {
		return nil, badRequest("the manifest must be of apiVersion %s and kind Cleaner", v1alpha1.GroupVersion)
	}
	return c, nil
}

// save writes a Cleaner. Fields that Cleaners do not have are refused.
func (s *Server) save(r *http.Request, p *person, request *rest.Request, c map[string]any) (*CleanerSaved, error) {
	dryRun := r.URL.Query().Get("dryRun") == "true"
	request.Param("fieldManager", fieldManager).Param("fieldValidation", "Strict")
	if dryRun {
		request.Param("dryRun", "All")
	} else if err := p.api.Intact(r.Context(), notIntact); err != nil {
		return nil, err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	answer, err := cluster.Send(r.Context(), request.Body(body))
	if err != nil {
		return nil, err
	}
	var saved v1alpha1.Cleaner
	if err := json.Unmarshal(answer, &saved); err != nil {
		return nil, err
	}
	did := deed{reason: "Saved", text: "saved Cleaner " + saved.Name}
	if r.Method == http.MethodPost {
		did = deed{reason: "Created", text: "created Cleaner " + saved.Name}
	}
	if !dryRun {
		s.audit(r.Context(), p, cleanerRef(&saved), did)
	}
	return &CleanerSaved{Name: saved.Name, ResourceVersion: saved.ResourceVersion, DryRun: dryRun}, nil
}

// fieldManager is whose changes of a Cleaner those of the page are.
const fieldManager = "kubecleaner-dashboard"

// patch changes a Cleaner.
func (s *Server) patch(ctx context.Context, p *person, name string, change any) (*v1alpha1.Cleaner, error) {
	if err := p.api.Intact(ctx, notIntact); err != nil {
		return nil, err
	}
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	request := p.api.Raw.Patch(types.MergePatchType).AbsPath(cluster.CleanerPath(name)).Param("fieldManager", fieldManager)
	answer, err := cluster.Send(ctx, request.Body(bytes.Clone(body)))
	if err != nil {
		return nil, err
	}
	var c v1alpha1.Cleaner
	return &c, json.Unmarshal(answer, &c)
}

func annotations(key, value string) any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}}
}

func (s *Server) trigger(r *http.Request, p *person) (int, any, error) {
	accepted, err := s.ask(r.Context(), p, r.PathValue("name"))
	return http.StatusAccepted, accepted, err
}

// ask asks for a run, as kubectl cleaner run does. The time is the request.
func (s *Server) ask(ctx context.Context, p *person, name string) (*Accepted, error) {
	request := s.Now().UTC().Format(time.RFC3339Nano)
	c, err := s.patch(ctx, p, name, annotations(v1alpha1.RunRequestedAtAnnotation, request))
	if err != nil {
		return nil, err
	}
	s.audit(ctx, p, cleanerRef(c), deed{
		"RunRequested", "asked for a run of Cleaner " + name, map[string]string{v1alpha1.RunRequestedAtAnnotation: request},
	})
	return &Accepted{name, request, "a run of Cleaner " + name + " was asked for"}, nil
}

func (s *Server) triggerAll(r *http.Request, p *person) (int, any, error) {
	rows, err := s.cleanerRows(r.Context(), p)
	if err != nil {
		return 0, nil, err
	}
	all := TriggeredAll{Triggered: []string{}, Failed: map[string]string{}}
	for _, row := range rows {
		if row.Suspended {
			all.Failed[row.Name] = "it is suspended"
			continue
		}
		if _, err := s.ask(r.Context(), p, row.Name); err != nil {
			all.Failed[row.Name] = failureOf(err).Body.Error
			continue
		}
		all.Triggered = append(all.Triggered, row.Name)
	}
	return http.StatusAccepted, all, nil
}

func (s *Server) suspend(suspended bool) answers {
	return func(r *http.Request, p *person) (int, any, error) {
		c, err := s.patch(r.Context(), p, r.PathValue("name"), map[string]any{"spec": map[string]any{"suspend": suspended}})
		if err != nil {
			return 0, nil, err
		}
		reason, did := "Resumed", "resumed"
		if suspended {
			reason, did = "Suspended", "suspended"
		}
		s.audit(r.Context(), p, cleanerRef(c), deed{reason: reason, text: fmt.Sprintf("%s Cleaner %s", did, c.Name)})
		return http.StatusOK, CleanerSaved{Name: c.Name, ResourceVersion: c.ResourceVersion}, nil
	}
}

// cancel stops the run that is going on, before its next object.
func (s *Server) cancel(r *http.Request, p *person) (int, any, error) {
	var given Cancel
	if err := read(r, &given); err != nil {
		return 0, nil, err
	}
	c, err := readCleaner(r.Context(), p, r.PathValue("name"))
	switch {
	case err != nil:
		return 0, nil, err
	case c.Status.ActiveRun == nil:
		return 0, nil, failure(http.StatusConflict, "no run of Cleaner %s is going on", c.Name)
	}
	run := c.Status.ActiveRun.Name
	if given.Run != "" && given.Run != run {
		return 0, nil, failure(http.StatusConflict, "run %s has ended; run %s is active now", given.Run, run)
	}
	if _, err := s.patch(r.Context(), p, c.Name, annotations(v1alpha1.CancelRunAnnotation, run)); err != nil {
		return 0, nil, err
	}
	s.audit(r.Context(), p, cleanerRef(c), deed{
		"RunCancelled", "cancelled run " + run, map[string]string{v1alpha1.CancelRunAnnotation: run},
	})
	return http.StatusAccepted, Accepted{c.Name, run, "run " + run + " stops before its next object"}, nil
}
