// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/schema"
)

const seeDefinitions = "see the check crds"

// untouched makes ways out of lines about Cleaners begin with the CustomResourceDefinitions while those lack fields.
// The API server stores a Cleaner that somebody edits now without these fields, as if the author had taken them out. A
// controller that writes to Cleaners has to go at once.
func (p *patient) untouched(lines []Line) {
	for i := range lines {
		l := &lines[i]
		if p.drops && strings.HasPrefix(l.Object, "Cleaner/") && l.Check != "k8s-cleaner" &&
			!strings.Contains(l.WayOut, seeDefinitions) {
			l.WayOut = "edit no Cleaner before the CustomResourceDefinitions are right (" + seeDefinitions + "); then " + l.WayOut
		}
	}
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
		return []Line{unread("", "could not read which kinds of KubeCleaner the cluster has", err)}, ""
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
		lines = append(lines, unread("", "could not read which fields of Cleaners the API server keeps", err))
	case schema.IsUnread(lacks):
		lines = append(
			lines,
			unread("", "could not read which fields of Cleaners the API server keeps", errors.New(lacks)),
		)
	case lacks != "":
		p.drops = true
		lines = append(p.altered(ctx, unapplied),
			Line{Status: Fail, Message: strings.TrimSuffix(lacks, " "+schema.WayOut+"."), WayOut: schema.WayOut})
	default:
		lines = p.altered(ctx, alteredLines)
	}
	return lines, "the CustomResourceDefinitions are those of this version"
}

// altered compares the CustomResourceDefinitions themselves. describe says what the differences of one mean.
func (p *patient) altered(
	ctx context.Context, describe func(about, plural string, c schema.Changes) []Line,
) (lines []Line) {
	for _, plural := range schema.Plurals() {
		name := plural + "." + v1alpha1.GroupVersion.Group
		about := ref("CustomResourceDefinition", name)
		var live map[string]any
		err := p.api.Read(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, &live)
		switch {
		case apierrors.IsForbidden(err): // of the others, too
			return append(lines, unread("", "could not read the CustomResourceDefinitions in full", err))
		case err != nil:
			lines = append(lines, unread(about, "could not read it in full", err))
			continue
		}
		changes, err := schema.ChangesOf(plural, live)
		if err != nil {
			return append(lines, unread(about, "it could not be compared", err))
		}
		lines = append(lines, describe(about, plural, changes)...)
	}
	return lines
}

// unapplied are the lines about what it takes more than to apply our CustomResourceDefinition. The API server refuses
// it while objects may be stored in a version that it does not have; and it leaves the conversion of somebody else.
func unapplied(about, plural string, c schema.Changes) (lines []Line) {
	version := v1alpha1.GroupVersion.Version
	name := plural + "." + v1alpha1.GroupVersion.Group
	if len(c.Stored) > 0 {
		lines = append(lines, Line{
			Status: Fail, Object: about,
			Message: fmt.Sprintf("%s are stored as %s, and this version of KubeCleaner stores only %s: objects may have lost fields, "+
				"and the API server refuses KubeCleaner's CustomResourceDefinition", plural, strings.Join(c.Stored, ", "), version),
			WayOut: fmt.Sprintf("1. Let only %[1]s have storage: true (kubectl edit crd %[2]s). 2. Wait a minute, until "+
				"each API server knows it. 3. Write each object once more (kubectl get %[2]s -o json | kubectl replace -f -). "+
				"4. Remove the other version from the status (kubectl patch crd %[2]s "+
				"--subresource=status --type=merge -p='{\"status\":{\"storedVersions\":[\"%[1]s\"]}}'). 5. %[3]s. 6. Apply the objects' own manifests again",
				version, name, schema.WayOut),
		})
	}
	if c.Converted {
		lines = append(lines, Line{
			Status: Warn, Object: about,
			Message: "something else converts its objects (spec.conversion), and applying KubeCleaner's CustomResourceDefinition does not remove it",
			WayOut:  "kubectl patch crd " + name + ` --type=json -p='[{"op":"remove","path":"/spec/conversion"}]'`,
		})
	}
	return lines
}

// alteredLines say what each difference means.
func alteredLines(about, plural string, c schema.Changes) (lines []Line) {
	lines = unapplied(about, plural, c)
	add := func(status Status, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		lines = append(lines, Line{Status: status, Object: about, Message: message, WayOut: schema.WayOut})
	}
	if c.NoStatus {
		add(Fail, "it has no status subresource: the operator cannot write the status of %s, so nothing runs", plural)
	}
	if len(c.Fields) > 0 {
		add(Fail, "it lacks fields, which the API server drops: %s", terminal.Shortened(c.Fields, maxNamed))
	}
	if len(c.Rules) > 0 {
		add(Fail, "it lacks rules (x-kubernetes-validations) at %s: the API server stores mistakes that it should refuse",
			terminal.Shortened(c.Rules, maxNamed))
	}
	if len(c.Loose) > 0 {
		add(Fail, "it does not check what this version checks, at %s: the API server stores mistakes that it should refuse",
			terminal.Shortened(c.Loose, maxNamed))
	}
	if len(c.Others) > 0 {
		add(Warn, "it differs from that of this version at %s: the API server may refuse, show or keep something else",
			terminal.Shortened(c.Others, maxNamed))
	}
	return lines
}
