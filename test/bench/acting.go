// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/schema"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

const (
	// victims is how many ConfigMaps are deleted or changed, and victimNamespace where they are.
	victims         = 5000
	victimNamespace = "bin"
	// cleanerName is the Cleaner whose run is measured, and operatorNamespace where it writes its records.
	cleanerName       = "bench"
	operatorNamespace = "default"

	configMapsPath = "/api/v1/namespaces/" + victimNamespace + "/configmaps"
	cleanersPath   = "/apis/apps.projectsveltos.io/v1alpha1/cleaners"
)

// prepareVictims makes the objects that are missing, and a Cleaner that acts on them anew.
func prepareVictims(cleanerAction v1alpha1.Action) func(context.Context, rest.Interface) error {
	return func(ctx context.Context, c rest.Interface) error {
		if err := createVictims(ctx, c, victims); err != nil {
			return fmt.Errorf("creating victims: %w", err)
		}
		if err := client.IgnoreNotFound(c.Delete().AbsPath(cleanersPath, cleanerName).Do(ctx).Error()); err != nil {
			return err
		}
		body, err := json.Marshal(cleaner(cleanerAction))
		if err != nil {
			return err
		}
		return c.Post().AbsPath(cleanersPath).Body(body).Do(ctx).Error()
	}
}

// createVictims makes those of n objects that are missing.
func createVictims(ctx context.Context, c rest.Interface, n int) error {
	namespace := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, victimNamespace)
	if err := client.IgnoreAlreadyExists(
		c.Post().AbsPath("/api/v1/namespaces").Body(namespace).Do(ctx).Error(),
	); err != nil {
		return err
	}
	l := load{ConfigMaps: n}
	return inParallel(ctx, n, func(ctx context.Context, i int) error {
		_, created, err := l.configMap(i)
		if err != nil {
			return err
		}
		var value map[string]any
		if err := json.Unmarshal(created, &value); err != nil {
			return err
		}
		metadata, _ := value["metadata"].(map[string]any)
		metadata["namespace"] = victimNamespace
		body, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return client.IgnoreAlreadyExists(c.Post().AbsPath(configMapsPath).Body(body).Do(ctx).Error())
	})
}

// cleaner acts on all victims: the script of a Delete looks at each, and a Transform writes a label that none has yet.
func cleaner(cleanerAction v1alpha1.Action) *v1alpha1.Cleaner {
	c := &v1alpha1.Cleaner{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner"},
		ObjectMeta: metav1.ObjectMeta{Name: cleanerName},
	}
	c.Spec.Schedule, c.Spec.Action = "@yearly", ptr.To(cleanerAction)
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
		Version: "v1", Kind: "ConfigMap", Namespace: victimNamespace,
		Evaluate: `function evaluate() return {matching = string.sub(obj.metadata.name, 1, 7) == "config-"} end`,
	}}
	if cleanerAction == v1alpha1.ActionTransform {
		c.Spec.MergePatch = &runtime.RawExtension{Raw: touch(time.Now())}
	}
	return c
}

func touch(now time.Time) []byte {
	return fmt.Appendf(nil, `{"metadata":{"labels":{"touched":%q}}}`, strconv.FormatInt(now.UnixNano(), 10))
}

// deleteOnly is a client that does nothing but send the deletes, with preconditions, 16 at a time. It is given what to
// delete.
func deleteOnly(ctx context.Context, s *site) error {
	return s.eachVictim(ctx, func(ctx context.Context, o object.Object) error {
		options := metav1.DeleteOptions{
			TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			Preconditions: &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
		}
		body, err := json.Marshal(options)
		if err != nil {
			return err
		}
		return s.client.Delete().AbsPath(o.Path()).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
	})
}

// patchOnly does the same with merge patches.
func patchOnly(ctx context.Context, s *site) error {
	patch := touch(time.Now())
	return s.eachVictim(ctx, func(ctx context.Context, o object.Object) error {
		return s.client.Patch(types.MergePatchType).AbsPath(o.Path()).Body(patch).Do(ctx).Error()
	})
}

// eachVictim finds the victims, which does not count, and calls do for each.
func (s *site) eachVictim(ctx context.Context, do func(context.Context, object.Object) error) error {
	kind := object.Kind{Resource: "configmaps", Namespaced: true}
	kind.Version, kind.Kind = "v1", "ConfigMap"
	var all []object.Object
	body, err := s.client.Get().AbsPath(configMapsPath).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	_, err = apiserver.ScanList(body, func(raw []byte) error {
		o, err := object.New(kind, raw)
		if err == nil && indexOf(o.Name) >= 0 {
			o.Raw = nil
			all = append(all, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(all) != victims {
		return fmt.Errorf("there are %d victims, want %d", len(all), victims)
	}
	s.begin()
	return inParallel(ctx, len(all), func(ctx context.Context, i int) error { return do(ctx, all[i]) })
}

// carryOutRun is a run of the Cleaner, from the list to the end of its record: with intent, copies and outcomes.
func carryOutRun(ctx context.Context, s *site) error {
	record, err := s.runCleaner(ctx, cleanerName)
	if err != nil {
		return err
	}
	if record.Status.Acted != victims || record.Status.Phase != v1alpha1.RunCompleted || record.Status.Copies == nil {
		return fmt.Errorf("the run acted on %d objects, want %d: %s", record.Status.Acted, victims, record.Status.Message)
	}
	return nil
}

// runCleaner carries out a run of a Cleaner in this process.
func (s *site) runCleaner(ctx context.Context, name string) (*v1alpha1.CleanerRun, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(s.config)
	config.QPS = -1
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	clk := clock.RealClock{}
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	served, err := schema.NewServed(config, connections, clk)
	if err != nil {
		return nil, err
	}
	runner := run.New(run.Config{
		Client: live, Reader: selector.NewReader(s.client, clk), Actor: action.NewActor(s.client),
		Journal: journal.New(live, operatorNamespace, clk), Metrics: metrics.New(prometheus.NewRegistry()),
		Scripts: s.pool, Clock: clk, CheckSchema: served.Check, Stop: stop.Fixed(""),
	})
	ctx = logr.NewContext(ctx, logr.Discard()) // a line for each object that matches
	return runner.Run(ctx, run.Request{Cleaner: name, Nominal: time.Now(), Trigger: v1alpha1.TriggerManual})
}
