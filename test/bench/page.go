// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const (
	// pageName is what BENCH_ONLY says for this measurement, which takes ten minutes and is none of the variants.
	pageName = "page"
	// pageOutcomes is how many objects the run touched that the page shows, and pageCleaner whose run it is.
	pageOutcomes, pageCleaner = 100_000, "large"
	// pageRunPatience is how long that run may take.
	pageRunPatience = 30 * time.Minute
	// pageAccount is who looks at the page: a ServiceAccount with all rights.
	pageAccount = "page"
)

// measurePage measures the page's server where there is much to show.
func measurePage(ctx context.Context, cleaners int, out io.Writer) error {
	if _, err := os.Stat("web/dist/index.html"); err != nil {
		return fmt.Errorf("the page is not built: make web builds it: %w", err)
	}
	fmt.Fprintf(out, "Starting etcd and kube-apiserver, and building the manager ...\n")
	env, err := testenv.Start(ctx, testenv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(measurePageOn(ctx, env, cleaners, out), env.Stop())
}

func measurePageOn(ctx context.Context, env *testenv.Env, cleaners int, out io.Writer) error {
	binary, err := buildManager(ctx, env.Dir)
	if err != nil {
		return err
	}
	c, err := newCrowd(ctx, env, 0)
	if err != nil {
		return err
	}
	start := time.Now()
	record, err := c.largeRun(ctx, env, binary)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "A run deleted %d ConfigMaps, after %.0f s; ", record.Status.Acted, time.Since(start).Seconds())
	if err := c.create(ctx, cleaners); err != nil {
		return err
	}
	token, err := c.allRights(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "there are %d Cleaners; load average %s.\n\n", cleaners, loadAverage())
	p, err := startPage(ctx, binary, env, token)
	if err != nil {
		return err
	}
	rows, err := p.look(ctx, record.Name)
	if err := errors.Join(err, p.stop()); err != nil {
		return err
	}
	printTable(out, rows)
	fmt.Fprintf(out, "\n%s\n", machine())
	return nil
}

// largeRun is a run that deletes all victims, with copies.
func (c *crowd) largeRun(ctx context.Context, env *testenv.Env, binary string) (*v1alpha1.CleanerRun, error) {
	raw, err := rawClient(env.Config)
	if err != nil {
		return nil, err
	}
	if err := createVictims(ctx, raw, pageOutcomes); err != nil {
		return nil, err
	}
	all := cleaner(v1alpha1.ActionDelete)
	all.Name, all.Annotations = pageCleaner, map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}
	if err := c.client.Create(ctx, all); err != nil {
		return nil, err
	}
	m, err := startManager(ctx, binary, env)
	if err != nil {
		return nil, err
	}
	record, err := c.runOf(ctx, pageCleaner)
	return record, errors.Join(err, m.stop())
}

// runOf waits for the end of a Cleaner's run.
func (c *crowd) runOf(ctx context.Context, cleaner string) (*v1alpha1.CleanerRun, error) {
	for start := time.Now(); time.Since(start) < pageRunPatience; {
		var runs v1alpha1.CleanerRunList
		if err := errors.Join(pause(ctx, 5*time.Second), c.client.List(ctx, &runs)); err != nil {
			return nil, err
		}
		for i := range runs.Items {
			run := &runs.Items[i]
			switch {
			case run.Spec.Cleaner != cleaner || run.Status.CompletionTime == nil:
			case run.Status.Acted < pageOutcomes:
				return nil, fmt.Errorf("the run acted on %d objects: %s", run.Status.Acted, run.Status.Message)
			default:
				return run, nil
			}
		}
	}
	return nil, fmt.Errorf("the run of %s was not over after %s", cleaner, pageRunPatience)
}

// allRights makes the account that looks at the page, and returns a token of it.
func (c *crowd) allRights(ctx context.Context) (token string, err error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: pageAccount}}
	request := &authenticationv1.TokenRequest{}
	request.Spec.ExpirationSeconds = ptr.To[int64](3600)
	err = errors.Join(c.client.Create(ctx, account), c.client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: pageAccount},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: metav1.NamespaceDefault, Name: pageAccount}},
	}))
	if err != nil {
		return "", err
	}
	err = c.client.SubResource("token").Create(ctx, account, request)
	return request.Status.Token, err
}
