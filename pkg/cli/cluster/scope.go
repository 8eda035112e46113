// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// BindAllNamespaces adds kubectl's -A to a command that looks into all namespaces unless -n is given. It changes
// nothing by itself; with -n it is refused.
func BindAllNamespaces(flags *pflag.FlagSet, usage string) {
	flags.BoolP("all-namespaces", "A", false, usage)
}

// BindOperatorNamespace adds the operator's namespace to a command that is about the operator, and so about no other
// namespace: -n is this one.
func BindOperatorNamespace(flags *pflag.FlagSet, into *string) {
	flags.VarP((*namespaceName)(into), "operator-namespace", "n",
		"the operator's namespace (default: where the operator's Deployment is)")
}

// InOperatorNamespace adds the operator's namespace to a command that is about other namespaces, too.
func InOperatorNamespace(flags *pflag.FlagSet, into *string) {
	flags.StringVar(into, "operator-namespace", "",
		"the operator's namespace (default: "+DefaultOperatorNamespace+")")
}

// OperatorNamespace is the operator's namespace, if that was given for it.
func OperatorNamespace(given string) string { return cmp.Or(given, DefaultOperatorNamespace) }

// namespaceName is the value of a flag that names a namespace: it becomes part of paths of the API server.
type namespaceName string

func (n *namespaceName) Set(value string) error {
	if wrong := validation.IsDNS1123Label(value); value != "" && len(wrong) > 0 {
		return errors.New("this cannot be the name of a namespace: " + strings.Join(wrong, "; "))
	}
	*n = namespaceName(value)
	return nil
}

func (n *namespaceName) String() string { return string(*n) }

// Type is what help shows.
func (n *namespaceName) Type() string { return "string" }
