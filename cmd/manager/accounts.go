// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
)

// watchAccounts asks as whom the operator may act, and lets the reconciler know.
func watchAccounts(
	mgr ctrl.Manager,
	identities *identity.Identities,
	clk clock.WithTicker,
	reconciler *controllers.CleanerReconciler,
) manager.Runnable {
	accounts := &controllers.AccountWatcher{
		WithAccount: controllers.WithAccount(mgr.GetCache()),
		MayActAs:    identities.MayActAs,
		Clock:       clk,
		Wake:        reconciler.Finished,
	}
	reconciler.AccountRefused = accounts.Refused
	return accounts
}
