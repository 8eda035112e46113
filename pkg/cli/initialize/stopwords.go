// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import "strings"

// passing are words of questions that say nothing of what is looked for.
var passing = strings.Fields(
	"a about after ago all an and any are at be by clean cleaner cleanup days delete did do does each every find for from " +
		"get has have how i in is it keep long me my no nobody not nothing of on one only or our out remove show that the " +
		"their than them there they thing things this to too up was what when where which who whose with",
)

// meant are words for what the recipes call by another word.
var meant = map[string]string{
	"use": "unused", "uses": "unused", "used": "unused", "using": "unused", "needs": "unused", "needed": "unused",
	"abandoned": "unused", "unneeded": "unused", "obsolete": "unused", "unreferenced": "unused",
	"envs": "environment", "env": "environment", "certs": "certificate", "cert": "certificate", "lb": "balancer",
	"deleted": "dangling", "k8s": "kubernetes", "tag": "label", "tags": "label", "expiry": "expire", "development": "dev",
	"disks": "disk", "restarting": "restart", "orphans": "orphan", "expensive": "cost",
}

// keywords are words that people look for, and that stand in no description of the recipe.
var keywords = map[string]string{
	"completed-pods":                   "old older zombie bare naked",
	"crash-looping-pods":               "restart backoff stuck",
	"dangling-references":              "missing broken without",
	"dangling-role-bindings":           "missing broken user group without subject",
	"empty-namespaces":                 "stale forgotten abandoned old",
	"expired-certificates":             "tls",
	"expiring-certificates":            "tls soon expire",
	"failed-jobs":                      "old older",
	"failed-pods":                      "old error zombie bare naked",
	"finished-jobs":                    "old older completed ttl",
	"generated-configs":                "kustomize hash old leftover",
	"helm-release-secrets":             "old history revision",
	"idle-by-metrics":                  "traffic unused cost money gpu",
	"image-pull-errors":                "wrong bad missing backoff",
	"jobs-keep-newest":                 "old last history retention",
	"keep-newest":                      "old last history retention policy duplicate snapshot volumesnapshot backup",
	"large-logs":                       "noisy verbose",
	"load-balancers-without-endpoints": "unused cost money",
	"lost-nodes":                       "ready dead zombie",
	"mount-failures":                   "error failedmount failedattachvolume",
	"often-restarted-pods":             "high restart",
	"old-replica-sets":                 "history rollout revision",
	"older-than":                       "age retention temporary week snapshot volumesnapshot backup",
	"pending-pods":                     "unschedulable scheduled",
	"platform-leftovers":               "uninstalled operator",
	"pods-with-outdated-secrets":       "rotated renewed certificate stale restarted changed use",
	"preview-namespaces":               "pr expired environment feature branch review test dev",
	"pull-request-leftovers":           "pr preview environment branch merged closed",
	"released-persistent-volumes":      "disk storage orphan orphaned unattached detached money",
	"resume-cronjobs":                  "weekend kube green",
	"rolling-restart":                  "weekly daily nightly regularly week day night",
	"scale-down-autoscalers":           "morning downscale weekend night sleep turn off stop dev save money shutdown hibernate reduce cost",
	"scale-down-workloads":             "morning downscale weekend night sleep turn off stop dev save money shutdown hibernate reduce cost kube green downscaler",
	"scale-up-autoscalers":             "downscaled night morning upscale weekend wake",
	"scale-up-workloads":               "downscaled night morning upscale weekend wake kube green downscaler",
	"scaled-to-zero":                   "idle",
	"stuck-deletions":                  "terminating finalizer",
	"suspend-cronjobs":                 "weekend night turn off pause stop kube green downscaler",
	"ttl-marks":                        "expired ttl lease expiry date deadline retention tag",
	"unbound-volume-claims":            "disk storage",
	"unused":                           "orphan orphaned stale garbage forgotten abandoned unattached detached",
	"unused-image-pull-secrets":        "docker registry",
	"unused-report-only":               "gpu",
	"used-only-by-unused":              "orphan orphaned",
}
