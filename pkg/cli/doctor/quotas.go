// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// quotas looks for ResourceQuotas that let the operator create no more Secrets, in which it keeps copies and plans, or
// no more ConfigMaps, in which it keeps counts.
func (p *patient) quotas(ctx context.Context) (lines []Line) {
	err := cluster.List[corev1.ResourceQuotaList](ctx, p.api, "/api/v1/namespaces/"+p.namespace+"/resourcequotas",
		func(quota *corev1.ResourceQuota) {
			for _, name := range []corev1.ResourceName{
				corev1.ResourceSecrets, "count/secrets", corev1.ResourceConfigMaps, "count/configmaps",
			} {
				most, is := quota.Status.Hard[name]
				used := quota.Status.Used[name]
				if !is || used.Cmp(most) < 0 {
					continue
				}
				lines = append(lines, Line{
					Status: Fail,
					Object: ref("ResourceQuota", p.namespace, quota.Name),
					Message: fmt.Sprintf("it is used up: %s of %s (%s). A run that cannot write its copies or counts touches nothing",
						&used, &most, name),
					WayOut: "raise it: the operator keeps copies in Secrets of its namespace, and counts in ConfigMaps",
				})
			}
		})
	if err != nil {
		return []Line{unread(ref("Namespace", p.namespace), "its ResourceQuotas could not be read", err)}
	}
	return lines
}
