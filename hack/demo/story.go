// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	requestAnnotation = v1alpha1.RunRequestedAtAnnotation
	settleTimeout     = 30 * time.Second
	// shopObjects are 8 ConfigMaps, kube-root-ca.crt and 2 Deployments.
	shopObjects = 11

	// The samples' Cleaners.
	scanner, deleter, transformer = "unused-configmaps", "expired-configmaps", "pause-deployments"

	listConfigMaps  = "get configmaps -n shop -o custom-columns-file=hack/demo/configmaps.columns"
	listDeployments = "get deployments -n shop -o custom-columns-file=hack/demo/deployments.columns"
)

// play tells the story, one scene after the other.
func (s *stage) play(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{s.open, s.scan, s.remove, s.change, s.lookBack} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// open puts the objects there.
func (s *stage) open(ctx context.Context) error {
	s.t.heading("A shop with live and stale objects")
	if err := s.kubectl(ctx, "apply -f hack/demo/shop.yaml"); err != nil {
		return err
	}
	return s.eventually(ctx, "the cluster's own part of the shop", func(ctx context.Context) (bool, error) {
		var deployments appsv1.DeploymentList
		if err := s.client.List(ctx, &deployments, client.InNamespace("shop")); err != nil {
			return false, err
		}
		for _, d := range deployments.Items {
			if d.Status.Replicas != *d.Spec.Replicas {
				return false, nil
			}
		}
		var err error
		s.before, err = s.look(ctx)
		return len(s.before) == shopObjects, err
	})
}

func (s *stage) scan(ctx context.Context) error {
	s.t.heading("1. Scan: which ConfigMaps does nobody use?")
	if err := s.runNow(ctx, scanner, "scan_unused_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("It would run every day at 6:23; the annotation asked for a run now. What it found:")
	if err := s.matches(ctx, scanner); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("Not among them, because they are in use: storefront-config (by the Pod storefront) and checkout-config (by the")
	s.t.say("template of the Deployment checkout). A Scan touches nothing: all are still there.")
	return s.kubectl(ctx, listConfigMaps)
}

func (s *stage) remove(ctx context.Context) error {
	s.t.heading("2. Delete: ConfigMaps whose time is over")
	if err := s.runNow(ctx, deleter, "delete_expired_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("What it deleted, and what it left alone although the script matched:")
	if err := s.matches(ctx, deleter); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("The others did not match: promo-today is too young for its cleaner/ttl, the rest carry no date.")
	return s.kubectl(ctx, listConfigMaps)
}

func (s *stage) change(ctx context.Context) error {
	s.t.heading("3. Transform: scale Deployments to zero for the night")
	s.t.say("Before:")
	if err := s.kubectl(ctx, listDeployments); err != nil {
		return err
	}
	s.t.say("")
	if err := s.runNow(ctx, transformer, "transform_pause_deployments.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("After:")
	if err := s.kubectl(ctx, listDeployments); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("checkout is as it was: it is not annotated pause-resume: \"true\".")
	return s.matches(ctx, transformer)
}

// lookBack shows where one sees later what happened.
func (s *stage) lookBack(ctx context.Context) error {
	s.t.heading("What is left to read")
	s.t.say("The dashboard, one record per run, and one Event per run:")
	for _, line := range []string{"get cleaners", "get cleanerruns"} {
		if err := s.kubectl(ctx, line); err != nil {
			return err
		}
	}
	err := s.eventually(ctx, "one Event for each run", func(ctx context.Context) (bool, error) {
		events, err := s.runEvents(ctx)
		return len(events) >= len(s.runs), err
	})
	if err != nil {
		return err
	}
	return s.kubectl(ctx, "get events --field-selector involvedObject.kind=Cleaner")
}

// runEvents are the Events on Cleaners.
func (s *stage) runEvents(ctx context.Context) ([]eventsv1.Event, error) {
	var events eventsv1.EventList
	if err := s.client.List(ctx, &events, client.InNamespace("default")); err != nil {
		return nil, err
	}
	var found []eventsv1.Event
	for _, event := range events.Items {
		if event.Regarding.Kind == "Cleaner" {
			found = append(found, event)
		}
	}
	return found, nil
}

// runNow applies a sample, asks for a run, and waits for its end.
func (s *stage) runNow(ctx context.Context, cleaner, file string) error {
	if err := s.kubectl(ctx, "apply -f config/samples/"+file); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	if err := s.kubectl(ctx, fmt.Sprintf("annotate cleaner %s %s=%s", cleaner, requestAnnotation, now)); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "wait cleaner "+cleaner+" --for=condition=RunSucceeded --timeout=60s"); err != nil {
		why, _ := s.quietly(ctx, "get cleaner "+cleaner+" -o jsonpath='{.status.conditions}'")
		return fmt.Errorf("%w\nconditions: %s", err, why)
	}
	name, err := s.quietly(ctx, "get cleaner "+cleaner+" -o jsonpath='{.status.lastRun.name}'")
	s.runs[cleaner] = strings.TrimSpace(name)
	return err
}

// matches shows what the last run of a Cleaner found and did.
func (s *stage) matches(ctx context.Context, cleaner string) error {
	return s.kubectl(ctx, "get cleaner "+cleaner+" -o go-template-file=hack/demo/matches.tmpl")
}

// eventually waits until a condition holds, within reason.
func (s *stage) eventually(ctx context.Context, what string, condition wait.ConditionWithContextFunc) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, settleTimeout, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
