// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config carries the ValidatingAdmissionPolicies in the binary, for tools that compare them with those of a
// cluster.
package config

import (
	"embed"
	"fmt"
)

//go:embed policy/service_account_policy*.yaml approval/approval_policy*.yaml
var policies embed.FS

// Policy is one of our ValidatingAdmissionPolicies and its binding, as YAML: service_account or approval.
func Policy(name string) (policy, binding []byte, err error) {
	directory := map[string]string{"service_account": "policy", "approval": "approval"}[name]
	policy, err = policies.ReadFile(directory + "/" + name + "_policy.yaml")
	if err == nil {
		binding, err = policies.ReadFile(directory + "/" + name + "_policy_binding.yaml")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("there is no ValidatingAdmissionPolicy %s in this program: %w", name, err)
	}
	return policy, binding, nil
}
