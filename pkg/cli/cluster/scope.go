// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/spf13/pflag"

// BindAllNamespaces adds kubectl's -A to a command that looks into all namespaces unless -n is given. It changes
// nothing by itself; with -n it is refused.
func BindAllNamespaces(flags *pflag.FlagSet, usage string) {
	flags.BoolP("all-namespaces", "A", false, usage)
}

// BindOperatorNamespace adds the operator's namespace to a command that is about the operator, and so about no other
// namespace: -n is this one.
func BindOperatorNamespace(flags *pflag.FlagSet, into *string) {
	flags.StringVarP(into, "operator-namespace", "n", "",
		"the operator's namespace (default: where the operator's Deployment is)")
}
