// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/schema"
)

// oldest and newest are the minor versions of Kubernetes that docs/reference/versions.md names.
const (
	oldest = 31
	newest = 36
)

var leadingNumber = regexp.MustCompile(`^\d+`)

// apiServer looks at the version of Kubernetes.
func (p *patient) apiServer(context.Context) (lines []Line, well string) {
	if p.unversioned != nil {
		return []Line{unread("", "the version of Kubernetes could not be read", p.unversioned)}, ""
	}
	text := "Kubernetes " + terminal.OneLine(p.kubernetes.GitVersion)
	supported := fmt.Sprintf("KubeCleaner supports 1.%d to 1.%d", oldest, newest)
	minor, err := strconv.Atoi(leadingNumber.FindString(p.kubernetes.Minor))
	switch {
	case err != nil || p.kubernetes.Major != "1":
		lines = append(
			lines,
			Line{
				Status:  Unknown,
				Message: text + " is no version that can be read; " + supported,
				WayOut:  "look at kubectl version",
			},
		)
	case minor < oldest:
		lines = append(lines, Line{Status: Fail, Message: text + " is too old: " + supported, WayOut: "update the cluster"})
	case minor > newest:
		lines = append(
			lines,
			Line{
				Status:  Warn,
				Message: text + " is newer than what was tested: " + supported,
				WayOut:  "update KubeCleaner, if there is a newer version",
			},
		)
	}
	return lines, text + " is supported"
}

// definitions compares the CustomResourceDefinitions with those of this plugin.
func (p *patient) definitions(ctx context.Context) (lines []Line, well string) {
	const install = "install KubeCleaner, or its CustomResourceDefinitions: kubectl apply --server-side -k config/crd; with Helm: crds.install=true"
	var served metav1.APIResourceList
	err := p.api.Read(ctx, object.GroupVersionPath(v1alpha1.GroupVersion), &served)
	switch {
	case apierrors.IsNotFound(err):
		return []Line{
			{
				Status:  Fail,
				Message: "the CustomResourceDefinitions are not installed: the cluster does not know Cleaners",
				WayOut:  install,
			},
		}, ""
	case err != nil:
		return []Line{unread("", "which kinds of KubeCleaner the cluster has could not be read", err)}, ""
	}
	there := map[string]bool{}
	for _, resource := range served.APIResources {
		there[resource.Kind] = true
	}
	for _, kind := range []string{"Cleaner", "CleanerRun", "CleanerApproval", "Report"} {
		if !there[kind] {
			lines = append(
				lines,
				Line{Status: Fail, Message: "the CustomResourceDefinition of " + kind + " is not installed", WayOut: install},
			)
		}
	}
	if len(lines) > 0 {
		return lines, ""
	}
	lacks, err := p.api.Lacks(ctx)
	switch {
	case err != nil:
		lines = append(lines, unread("", "which fields of Cleaners the API server keeps could not be read", err))
	case schema.IsUnread(lacks):
		lines = append(
			lines,
			unread("", "which fields of Cleaners the API server keeps could not be read", errors.New(lacks)),
		)
	case lacks != "":
		lines = append(
			lines,
			Line{Status: Fail, Message: strings.TrimSuffix(lacks, " "+schema.WayOut+"."), WayOut: schema.WayOut},
		)
	}
	return lines, "the CustomResourceDefinitions have all fields of this version"
}

// versions compares the versions of this plugin and of the operator.
func (p *patient) versions(context.Context) (lines []Line, well string) {
	if len(p.deployments) == 0 {
		return []Line{
			{
				Status:  Unknown,
				Message: "the version of the operator is not known: its Deployment was not found",
				WayOut:  "see the check operator",
			},
		}, ""
	}
	d := &p.deployments[0]
	operator, plugin := versionOf(d), terminal.OneLine(p.Version)
	words := fmt.Sprintf("plugin %s, operator %s", plugin, operator)
	if isVersion(operator) && isVersion(plugin) && strings.TrimPrefix(operator, "v") != strings.TrimPrefix(plugin, "v") {
		return []Line{{
			Status: Warn, Object: ref("Deployment", d.Namespace, d.Name), Message: "the versions differ: " + words,
			WayOut: "use the plugin of the operator's version: a preview of another one may judge otherwise",
		}}, ""
	}
	if !isVersion(operator) || !isVersion(plugin) {
		return nil, words + ": they cannot be compared, because not both are releases"
	}
	return nil, words
}

// versionOf is the tag of the operator's image or, without one, the version in the labels.
func versionOf(d *appsv1.Deployment) string {
	for _, c := range d.Spec.Template.Spec.Containers {
		image, _, _ := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], "@")
		if _, tag, tagged := strings.Cut(image, ":"); tagged {
			return terminal.OneLine(tag)
		}
	}
	if label := d.Labels["app.kubernetes.io/version"]; label != "" {
		return terminal.OneLine(label)
	}
	return "without a version in its image"
}

var versionPattern = regexp.MustCompile(`^v?\d+\.\d+\.\d+`)

// isVersion reports whether a text is the version of a release. A build from source has another one, and can be
// compared with none.
func isVersion(text string) bool { return versionPattern.MatchString(text) }
