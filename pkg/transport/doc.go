// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package transport is what every request of the operator to the API server goes through: whose identity it carries,
// which Cleaner it names, what the answer says of the clock, redirects that are refused, and the fence that keeps an
// operator from writing that is not the leader any more.
package transport
