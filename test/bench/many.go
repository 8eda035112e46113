// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const (
	// manyCleaners is how many Cleaners there are by default. One in manyShare is due at the same moment.
	manyCleaners, manyShare = 5000, 5
	// manyName is what BENCH_ONLY says for this measurement, which takes ten minutes and is none of the variants.
	manyName = "many"
	// manyNamespace is where the objects are that they select, and manySelected how many; hostileNamespace, those of the
	// hostile.
	manyNamespace, manySelected       = "many", 3
	hostileNamespace, hostileSelected = "hostile", 40
	// yearly is the schedule of a Cleaner that is not due.
	yearly = "0 0 1 1 *"
	// creators is how many requests at once create and change Cleaners.
	creators = 16
)

// hostile are scripts that take all that they can get; a Cleaner has each. The last one keeps within its limits, and
// takes some tenths of a second for each object.
var hostile = []string{
	`function evaluate() while true do end end`,
	`function evaluate() return {matching = string.find(string.rep("a", 30), string.rep("a?", 30) .. string.rep("a", 30)) ~= nil} end`,
	`function evaluate() local t = {} while true do t[#t + 1] = {#t} end end`,
	`function evaluate() local n = 0 for i = 1, 10000000 do n = n + 1 end return {matching = false} end`,
}

// many measures the manager with many Cleaners: how long it takes to look at all of them, its memory when nothing is
// due, and when the last of those that are due together begins, beside others whose scripts hang.
func many(ctx context.Context, total, due int, out io.Writer) error {
	fmt.Fprintf(out, "Starting etcd and kube-apiserver, and building the manager ...\n")
	env, err := testenv.Start(ctx, testenv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(manyOn(ctx, env, total, due, out), env.Stop())
}

func manyOn(ctx context.Context, env *testenv.Env, total, due int, out io.Writer) error {
	binary, err := buildManager(ctx, env.Dir)
	if err != nil {
		return err
	}
	c, err := newCrowd(ctx, env, due)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := c.create(ctx, total); err != nil {
		return err
	}
	fmt.Fprintf(
		out,
		"Created %d Cleaners in %.0f s; load average %s.\n\n",
		total,
		time.Since(start).Seconds(),
		loadAverage(),
	)
	client, err := rawClient(env.Config)
	if err != nil {
		return err
	}
	api, err := newServer(ctx, env.Dir, client)
	if err != nil {
		return err
	}
	table := &manyTable{
		out:    out,
		server: api,
		rows:   [][]string{{"what", "measured", "target", "CPU s: manager", "its children", "API server"}},
	}
	if err := table.measure(
		ctx,
		c,
		func() (*managed, error) { return startManager(ctx, binary, env) },
		total,
	); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s; load average %s\n\n", machine(), loadAverage())
	printTable(out, table.rows)
	return nil
}

// crowd is many Cleaners.
type crowd struct {
	client client.Client
	due    int
}

func newCrowd(ctx context.Context, env *testenv.Env, due int) (*crowd, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(env.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	for namespace, n := range map[string]int{manyNamespace: manySelected, hostileNamespace: hostileSelected} {
		err = errors.Join(err, c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
		for i := range n {
			err = errors.Join(
				err,
				c.Create(
					ctx,
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("selected-", i)}},
				),
			)
		}
	}
	return &crowd{client: c, due: due}, err
}

// create creates the Cleaners: the hostile ones, those that will be due together, and the rest.
func (c *crowd) create(ctx context.Context, total int) error {
	var all []*v1alpha1.Cleaner
	for i, script := range hostile {
		all = append(all, cleanerWith(fmt.Sprintf("hostile-%02d", i), hostileNamespace, script))
	}
	for i := range total - len(all) {
		name := fmt.Sprintf("idle-%04d", i)
		if i < c.due {
			name = fmt.Sprintf("due-%04d", i)
		}
		all = append(
			all,
			cleanerWith(
				name,
				manyNamespace,
				fmt.Sprintf(`function evaluate() return {matching = obj.metadata.name == "selected-%d"} end`, i),
			),
		)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for _, cleaner := range all {
		group.Go(func() error { return c.client.Create(ctx, cleaner) })
	}
	return group.Wait()
}

func cleanerWith(name, namespace, script string) *v1alpha1.Cleaner {
	return &v1alpha1.Cleaner{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CleanerSpec{
			Schedule: yearly, Action: ptr.To(v1alpha1.ActionScan),
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{
				{Version: "v1", Kind: "ConfigMap", Namespace: namespace, Evaluate: script},
			}},
		},
	}
}
