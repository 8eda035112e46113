// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// namespaces is over how many namespaces the objects are spread.
	namespaces = 20
	// namespacePrefix is what their names begin with.
	namespacePrefix = "shop-"
	// writers is how many requests are under way at once while the load is made.
	writers = 16
	// succeededEvery: every so manieth Pod has succeeded.
	succeededEvery = 10
	// podsPerConfigMap is by how many Pods a ConfigMap is used that is used at all.
	podsPerConfigMap = 4
)

//go:embed objects/*.json
var templates embed.FS

// load is what the cluster holds. The i-th object is the same in every run.
type load struct{ Pods, ConfigMaps int }

// used is how many ConfigMaps are used by Pods: the first ones.
func (l load) used() int { return min(l.ConfigMaps, max(1, l.Pods/podsPerConfigMap)) }

// succeeded is how many Pods have succeeded.
func (l load) succeeded() int { return (l.Pods + succeededEvery - 1) / succeededEvery }

func hasSucceeded(pod int) bool { return pod%succeededEvery == 0 }

func podName(i int) string       { return fmt.Sprintf("pod-%05d", i) }
func configMapName(i int) string { return fmt.Sprintf("config-%05d", i) }

// indexOf is the number at the end of a name, -1 of an object that is not of the load.
func indexOf(name string) int {
	i, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return i
}

func namespaceOf(configMap int) string {
	return fmt.Sprintf("%s%02d", namespacePrefix, configMap%namespaces)
}

// values are what stands for the placeholders of the templates, made up but always the same for the same object. They
// look random where those of real objects do, because they are compressed on their way.
func (l load) values(i int, name string) []string {
	random := rand.New(rand.NewPCG(uint64(i), uint64(len(name))))
	hex := func(digits int) string {
		var b strings.Builder
		for range digits {
			fmt.Fprintf(&b, "%x", random.IntN(16))
		}
		return b.String()
	}
	return []string{
		"{{name}}",
		name,
		"{{app}}",
		fmt.Sprintf("checkout-%03d", i%500),
		"{{hash}}",
		hex(10),
		"{{checksum}}",
		hex(64),
		"{{container}}",
		hex(64),
		"{{uid}}",
		fmt.Sprintf("%s-%s-4%s-8%s-%s", hex(8), hex(4), hex(3), hex(3), hex(12)),
		"{{node}}",
		fmt.Sprintf("node-%03d", random.IntN(200)),
		"{{memory}}",
		strconv.Itoa(32 * (1 + random.IntN(16))),
		"{{byte}}",
		strconv.Itoa(random.IntN(256)),
		"{{restarts}}",
		strconv.Itoa(random.IntN(3)),
		"{{level}}",
		[]string{"DEBUG", "INFO", "WARN"}[i%3],
		"{{time}}",
		fmt.Sprintf("2026-01-%02dT%02d:%02d:%02dZ", 1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60)),
	}
}

// use is how a Pod names the ConfigMap that it uses: in one of three ways.
func use(pod int, configMap string) (container, volume string) {
	switch pod % 3 {
	case 0:
		return fmt.Sprintf(`"envFrom": [{"configMapRef": {"name": %q}}],`, configMap), ""
	case 1:
		return fmt.Sprintf(
			`"env": [{"name": "TOKEN", "valueFrom": {"configMapKeyRef": {"name": %q, "key": "token"}}}],`,
			configMap,
		), ""
	}
	return `"volumeMounts": [{"name": "config", "mountPath": "/etc/shop"}],`, fmt.Sprintf(
		`, {"name": "config", "configMap": {"name": %q}}`,
		configMap,
	)
}

// pod is the i-th Pod as it is created, and the merge patch that its kubelet would send afterwards.
func (l load) pod(i int) (namespace string, created, status []byte, err error) {
	configMap := i % l.used()
	namespace = namespaceOf(configMap)
	container, volume := use(i, configMapName(configMap))
	values := append(l.values(i, podName(i)), "{{namespace}}", namespace, "{{use}}", container, "{{volume}}", volume)
	if hasSucceeded(i) {
		values = append(values, "{{phase}}", "Succeeded", "{{ready}}", "False", "{{isReady}}", "false",
			"{{state}}", `{"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": "2026-02-01T00:00:00Z"}}`)
	} else {
		values = append(values, "{{phase}}", "Running", "{{ready}}", "True", "{{isReady}}", "true",
			"{{state}}", `{"running": {"startedAt": "2026-02-01T00:00:00Z"}}`)
	}
	if created, err = render("pod", values); err != nil {
		return "", nil, nil, err
	}
	status, err = render("status", values)
	return namespace, created, status, err
}

func (l load) configMap(i int) (namespace string, created []byte, err error) {
	namespace = namespaceOf(i)
	created, err = render("configmap", append(l.values(i, configMapName(i)), "{{namespace}}", namespace))
	return namespace, created, err
}

func render(template string, values []string) ([]byte, error) {
	text, err := templates.ReadFile("objects/" + template + ".json")
	if err != nil {
		return nil, err
	}
	rendered := []byte(strings.NewReplacer(values...).Replace(string(text)))
	if !json.Valid(rendered) {
		return nil, fmt.Errorf("objects/%s.json is not JSON once filled in:\n%s", template, rendered)
	}
	return rendered, nil
}

// create makes the load in a cluster, or what is missing of it.
func (l load) create(ctx context.Context, client rest.Interface) error {
	err := inParallel(ctx, namespaces, func(ctx context.Context, i int) error {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespaceOf(i))
		return ignoreExists(client.Post().AbsPath("/api/v1/namespaces").Body(body).Do(ctx).Error())
	})
	if err != nil {
		return fmt.Errorf("creating namespaces: %w", err)
	}
	if err := inParallel(
		ctx,
		l.ConfigMaps,
		func(ctx context.Context, i int) error { return l.createConfigMap(ctx, client, i) },
	); err != nil {
		return fmt.Errorf("creating ConfigMaps: %w", err)
	}
	if err := inParallel(
		ctx,
		l.Pods,
		func(ctx context.Context, i int) error { return l.createPod(ctx, client, i) },
	); err != nil {
		return fmt.Errorf("creating Pods: %w", err)
	}
	return nil
}

func (l load) createConfigMap(ctx context.Context, client rest.Interface, i int) error {
	namespace, created, err := l.configMap(i)
	if err != nil {
		return err
	}
	return ignoreExists(
		client.Post().
			AbsPath("/api/v1/namespaces", namespace, "configmaps").
			Param("fieldManager", "helm").
			Body(created).
			Do(ctx).
			Error(),
	)
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// createPod writes with the field managers of a real cluster, so that managedFields are the server's own.
func (l load) createPod(ctx context.Context, client rest.Interface, i int) error {
	namespace, created, status, err := l.pod(i)
	if err != nil {
		return err
	}
	err = client.Post().
		AbsPath("/api/v1/namespaces", namespace, "pods").
		Param("fieldManager", "kube-controller-manager").
		Body(created).
		Do(ctx).
		Error()
	if err != nil {
		return err
	}
	return client.Patch(types.MergePatchType).AbsPath("/api/v1/namespaces", namespace, "pods", podName(i), "status").
		Param("fieldManager", "kubelet").Body(status).Do(ctx).Error()
}

// describe says how large the objects are, by the first ones.
func (l load) describe(ctx context.Context, client rest.Interface) (string, error) {
	var sizes []string
	for _, resource := range []string{"pods", "configmaps"} {
		body, err := client.Get().AbsPath("/api/v1", resource).Param("limit", "100").Stream(ctx)
		if err != nil {
			return "", err
		}
		var objects, bytes, managed int
		_, err = apiserver.ScanList(body, func(raw []byte) error {
			objects, bytes = objects+1, bytes+len(raw)
			managed += len(object.JSON(raw).At("metadata", "managedFields"))
			return nil
		})
		if err := errors.Join(err, body.Close()); err != nil {
			return "", fmt.Errorf("reading some %s: %w", resource, err)
		}
		sizes = append(
			sizes,
			fmt.Sprintf(
				"%s of %.1f KB (%.1f of it managedFields)",
				resource,
				float64(bytes)/float64(objects)/1e3,
				float64(managed)/float64(objects)/1e3,
			),
		)
	}
	return fmt.Sprintf("%d %s and %d %s", l.Pods, sizes[0], l.ConfigMaps, sizes[1]), nil
}

// inParallel calls do for 0 to n-1, and returns the first error, which ends it.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n && ctx.Err() == nil; i += writers {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
