// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	requestAnnotation = v1alpha1.RunRequestedAtAnnotation
	settleTimeout     = 30 * time.Second
	// shopObjects are 8 ConfigMaps, kube-root-ca.crt, 2 Deployments and 2 PersistentVolumeClaims.
	shopObjects = 13

	// The samples' Cleaners.
	scanner, deleter, transformer = "unused-configmaps", "expired-configmaps", "pause-deployments"
	planner                       = "delete-unused-configmaps"

	listConfigMaps  = "get configmaps -n shop -o custom-columns-file=hack/demo/configmaps.columns"
	listDeployments = "get deployments -n shop -o custom-columns-file=hack/demo/deployments.columns"
)

// play runs the story, one scene after the other.
func (s *stage) play(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{
		s.open, s.scan, s.remove, s.change, s.restore, s.approve, s.lookBack,
	} {
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
		bound, err := s.claimsBound(ctx)
		if !bound || err != nil {
			return false, err
		}
		s.before, err = s.look(ctx)
		return len(s.before) == shopObjects, err
	})
}

// claimsBound reports whether each claim has its volume: only then is it known what its deletion frees.
func (s *stage) claimsBound(ctx context.Context) (bool, error) {
	var claims corev1.PersistentVolumeClaimList
	err := s.client.List(ctx, &claims, client.InNamespace("shop"))
	return !slices.ContainsFunc(claims.Items, func(c corev1.PersistentVolumeClaim) bool {
		return c.Status.Phase != corev1.ClaimBound
	}), err
}

func (s *stage) scan(ctx context.Context) error {
	s.t.heading("1. Scan: what does nobody use?")
	s.t.say("The plugin needs nothing to be installed in the cluster:")
	if err := s.kubectl(ctx, "cleaner scan --namespace shop"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("A Cleaner looks for it on a schedule. This one only reports:")
	if err := s.runNow(ctx, scanner, "scan_unused_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say(
		"It would run every day at 6:23; this run was asked for. Not among what it found, because they are in use: storefront-config",
	)
	s.t.say(
		"(by the Pod storefront) and checkout-config (by the template of the Deployment checkout). A Scan touches nothing:",
	)
	return s.kubectl(ctx, listConfigMaps)
}

func (s *stage) remove(ctx context.Context) error {
	s.t.heading("2. Delete: ConfigMaps whose time is over")
	s.t.say("What would it do?")
	if err := s.kubectl(ctx, "cleaner preview -f config/samples/delete_expired_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	if err := s.runNow(ctx, deleter, "delete_expired_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("The others did not match: promo-archive is annotated cleaner/protect: \"true\", promo-today is too young for its")
	s.t.say("cleaner/ttl, the rest carry no date.")
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
	s.t.say("After; checkout is as it was, because it is not annotated pause-resume: \"true\":")
	return s.kubectl(ctx, listDeployments)
}

// restore brings back one of the objects that were deleted.
func (s *stage) restore(ctx context.Context) error {
	s.t.heading("4. Restore: that one was still needed")
	if err := s.kubectl(ctx, "cleaner restore ConfigMap/shop/promo-spring --yes --progress=none"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("It is annotated, and no Cleaner touches it until you remove the annotation:")
	return s.kubectl(ctx, "cleaner preview expired-configmaps --only ConfigMap/shop/promo-spring --progress=none")
}

// approve makes a plan, and leaves it to whoever looks.
func (s *stage) approve(ctx context.Context) error {
	s.t.heading("5. Approve: a person decides")
	s.t.say("This Cleaner deletes what nothing uses, but only after a person has approved its plan:")
	if err := s.runNow(ctx, planner, "delete_unused_configmaps.yaml"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say("Nothing was touched. The plan waits:")
	if err := s.kubectl(ctx, "cleaner runs --waiting"); err != nil {
		return err
	}
	s.t.say("To decide, call kubectl cleaner approve " + s.runs[planner] + ", or open Plans on the page.")
	return nil
}

// lookBack shows where one sees later what happened.
func (s *stage) lookBack(ctx context.Context) error {
	s.t.heading("What is left to read")
	s.t.say("The dashboard, one record per run, and one Event per run:")
	for _, line := range []string{"get cleaners", "cleaner runs"} {
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
	if err := s.kubectl(ctx, "cleaner run "+cleaner+" --yes --wait --timeout=60s --progress=none"); err != nil {
		why, _ := s.quietly(ctx, "get cleaner "+cleaner+" -o jsonpath='{.status.conditions}'")
		return fmt.Errorf("%w\nconditions: %s", err, why)
	}
	name, err := s.quietly(ctx, "get cleaner "+cleaner+" -o jsonpath='{.status.lastRun.name}'")
	s.runs[cleaner] = strings.TrimSpace(name)
	return err
}

// eventually waits until a condition holds, within reason.
func (s *stage) eventually(ctx context.Context, what string, condition wait.ConditionWithContextFunc) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, settleTimeout, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
