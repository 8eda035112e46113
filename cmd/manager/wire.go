// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	schemas "github.com/kubecleaner/kubecleaner/pkg/schema"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

const (
	// reporter is who Events say they come from.
	reporter = "kubecleaner"
	// leaseName is the Lease that the replicas compete for.
	leaseName = "kubecleaner-leader"
	// shutdownTimeout is how long the objects in hand may take when the operator stops. The Pod's grace period is longer.
	shutdownTimeout = 45 * time.Second
	// showAfter is after how long a scheduled run that only reports is shown as going on. Hundreds that are due together
	// wait some seconds for each other: a second write of a status for each would cost the API server a quarter of what
	// the run does.
	showAfter = 5 * time.Second
	// hungAfter is by how much a run may outlive its own limit before the process counts as not alive.
	hungAfter = 5 * time.Minute
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=projectsveltos,verbs=get;create;update
// +kubebuilder:rbac:groups="",resources=configmaps,namespace=projectsveltos,verbs=get;list;create;update;delete
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// newManager wires everything.
func newManager(ctx context.Context, restConfig *rest.Config, o *options, scripts *sandbox.Pool,
	memory *scriptMemory,
) (ctrl.Manager, error) {
	restConfig = rest.CopyConfig(restConfig)
	restConfig.Wrap(transport.RefuseRedirects)
	restConfig.Wrap(transport.NameCleaners)
	restConfig.UserAgent = reporter + "/" + versionString()
	skew := &transport.ClockSkew{Clock: clock.RealClock{}}
	restConfig.Wrap(skew.Wrap)
	if restConfig.QPS = -1; o.qps > 0 { // a zero would mean client-go's default of 5
		// One limiter for all clients: each would make its own.
		restConfig.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(float32(o.qps), max(1, cmp.Or(o.burst, int(o.qps))))
	}
	if err := reach(ctx, restConfig); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	options := managerOptions(scheme, o)
	lease := &resourcelock.LeaseLock{}
	if o.leaderElect {
		var err error
		if lease, err = electLeader(restConfig, &options, o); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	if err := controllers.IndexCleaners(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	events := mgr.GetEventRecorderFor(lease.Identity()) //nolint:staticcheck // leader election knows no other
	lease.LockConfig.EventRecorder = events
	live, err := client.New(restConfig, client.Options{Scheme: scheme, HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return mgr, addComponents(mgr, live, plainJSON(restConfig), scripts, memory, skew, o)
}

func managerOptions(scheme *runtime.Scheme, o *options) ctrl.Options {
	diagnostics := metricsserver.Options{BindAddress: o.diagnosticsAddress, CertDir: o.diagnosticsCertDir}
	if !o.insecureDiagnostics {
		diagnostics.SecureServing = true
		diagnostics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       diagnostics,
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true, // the process ends right after
		GracefulShutdownTimeout:       ptr.To(shutdownTimeout),
		Cache: cache.Options{
			SyncPeriod: &o.syncPeriod,
			ByObject:   map[client.Object]cache.ByObject{&v1alpha1.Cleaner{}: {Transform: slimCleaner}},
			// Only Cleaners are cached: reading anything else through the cache is a mistake, not a new informer.
			ReaderFailOnMissingInformer: true,
		},
	}
}

// slimCleaner keeps the cache small: what nobody reads from it is not kept.
func slimCleaner(in any) (any, error) {
	if cleaner, ok := in.(*v1alpha1.Cleaner); ok {
		cleaner.ManagedFields = cleaner.StatusWriters()
		if cleaner.Status.LastRun != nil {
			cleaner.Status.LastRun.Matches = nil
		}
	}
	return in, nil
}

// plainJSON is the configuration of a client that speaks plain JSON to absolute paths.
func plainJSON(restConfig *rest.Config) *rest.Config {
	plain := rest.CopyConfig(restConfig)
	plain.GroupVersion = &schema.GroupVersion{}
	plain.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	plain.ContentType, plain.AcceptContentTypes = "application/json", "application/json"
	plain.WarningHandler = rest.NoWarnings{} // an admission plugin's may quote a Secret
	return plain
}

// addComponents creates the reconciler, the executor and what a run needs, and adds them to the manager.
func addComponents(mgr ctrl.Manager, live client.Client, plain *rest.Config, scripts *sandbox.Pool,
	memory *scriptMemory, skew *transport.ClockSkew, o *options,
) error {
	clk, facts := clock.RealClock{}, metrics.New(ctrlmetrics.Registry)
	book := newJournal(live, clk, skew, o)
	metrics.BuildInfo(ctrlmetrics.Registry, versionString())
	served, err := schemas.NewServed(plain, mgr.GetHTTPClient(), clk)
	if err != nil {
		return err
	}
	off, err := newSwitch(mgr, o)
	if err != nil {
		return err
	}
	runner, err := newRunner(run.Config{
		Journal: book, Metrics: facts, Scripts: scripts, Clock: clk,
		CheckClock: skew.Check, CheckSchema: served.Check, Stop: off, Stopping: executor.ErrStopping,
	}, live, mgr.GetHTTPClient(), plain, o)
	if err != nil {
		return err
	}
	reconciler := &controllers.CleanerReconciler{
		Client: mgr.GetClient(), Journal: book, Metrics: facts, Events: mgr.GetEventRecorder(reporter),
		Clock: clk, Validate: runner.Check.Validate, Cleaners: controllers.All(mgr.GetCache()), Weight: memory.of,
		CheckClock: skew.Check, CheckSchema: served.Check,
		WhyOff: off.Why, RequireServiceAccount: o.requireAccount, JitterWindow: o.jitterWindow, ShowAfter: showAfter,
	}
	book.Dropped = reconciler.CopiesDropped
	outbox := newOutbox(book, live, runner.Delivery, reconciler, facts, clk)
	slimming := newSlimming(slim)
	var workers *controllers.Executor
	lighten := func(name string) { workers.Lighten(name, sandbox.SmallMemory) }
	workers = executor.New(memory.rooms, runFunc(runner, slimming, memory, lighten), reconciler.Finished, clk)
	reconciler.Executor = workers
	watchers := append(watchStops(mgr, off, facts, clk, reconciler),
		watchAccounts(mgr, runner.Check.Identities, clk, reconciler), &controllers.ApprovalWatcher{
			WithPlan: controllers.WithPlan(mgr.GetCache()), Live: live, Journal: book, Clock: clk, Wake: reconciler.Finished,
		}, &controllers.SchemaWatcher{
			Client: mgr.GetClient(), Check: served.Check, Metrics: facts, Events: mgr.GetEventRecorder(reporter), Clock: clk,
			Wake: reconciler.Finished,
		})
	sweeper := newSweeper(book, facts, o)
	sweeper.CheckSchema, sweeper.Close, sweeper.Notify = served.Check, runner.Close, outbox.Add
	sweeper.Busy = func(name string) bool { _, busy := workers.Active(name); return busy }
	if err := addAll(mgr, append(watchers, outbox, workers, slimming, sweeper)); err != nil {
		return err
	}
	if err := reconciler.SetupWithManager(mgr, o.concurrentReconcile); err != nil {
		return fmt.Errorf("setting up the reconciler: %w", err)
	}
	return addChecks(mgr, workers)
}

func addAll(mgr ctrl.Manager, components []manager.Runnable) error {
	for _, component := range components {
		if err := mgr.Add(component); err != nil {
			return err
		}
	}
	return nil
}

// addChecks makes /healthz fail when a worker hangs, and /readyz until the Cleaners have been read.
func addChecks(mgr ctrl.Manager, workers *controllers.Executor) error {
	alive := func(*http.Request) error { return workers.Overdue(deadline.Max + hungAfter) }
	ready := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("the Cleaners have not been read yet; are the CustomResourceDefinitions installed?")
		}
		return nil
	}
	if err := mgr.AddHealthzCheck("runs", alive); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("cleaners", healthz.Checker(ready))
}
