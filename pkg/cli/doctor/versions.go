// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
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

// versions compares the versions of this plugin and of the operator.
func (p *patient) versions(context.Context) (lines []Line, well string) {
	if p.deployment == nil {
		return p.noDeployment("the version of the operator"), ""
	}
	d := p.deployment
	operator, plugin := versionOf(d), terminal.OneLine(p.Version)
	words := fmt.Sprintf("plugin %s, operator %s", plugin, operator)
	if isVersion(operator) && isVersion(plugin) && strings.TrimPrefix(operator, "v") != strings.TrimPrefix(plugin, "v") {
		return []Line{{
			Status: Warn, Object: refTo(d), Message: "the versions differ: " + words,
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
