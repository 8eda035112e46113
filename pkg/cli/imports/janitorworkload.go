// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"path"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// janitorName is in the name of kube-janitor's image, of its container or of its workload.
const janitorName = "kube-janitor"

// container is one that runs kube-janitor: the field at which it stands in a workload.
type container struct {
	d  *manifest.Document
	at string
}

// janitorsIn are the containers of a document that run kube-janitor. It is no workload if it has no containers, or if
// another workload owns it, which says the same.
func janitorsIn(d *manifest.Document) (found []container, isWorkload bool) {
	pod := podOf(d)
	_, list := d.Find(pod + ".containers")
	if list == nil || isOwned(d) {
		return nil, false
	}
	var named []container
	for i, node := range list.Content {
		c := container{d, fmt.Sprintf("%s.containers[%d]", pod, i)}
		text := func(field string) string {
			if _, value := manifest.Child(manifest.Meant(node), field); value != nil {
				return manifest.Meant(value).Value
			}
			return ""
		}
		image, _, _ := strings.Cut(path.Base(text("image")), ":")
		switch {
		case strings.Contains(image, janitorName):
			found = append(found, c)
		case strings.Contains(text("name"), janitorName) || len(list.Content) == 1 && strings.Contains(d.Name(), janitorName):
			named = append(named, c)
		}
	}
	if len(found) == 0 {
		found = named
	}
	return found, true
}

// podOf is the field of a workload that says what its Pods are.
func podOf(d *manifest.Document) string {
	switch d.Kind() {
	case "Pod":
		return "spec"
	case "CronJob":
		return "spec.jobTemplate.spec.template.spec"
	}
	return "spec.template.spec"
}

func isOwned(d *manifest.Document) bool {
	_, owners := d.Find("metadata.ownerReferences")
	return owners != nil && len(owners.Content) > 0
}

// readFlags reads the flags of the one container that runs kube-janitor.
func (in *janitorInput) readFlags() error {
	switch {
	case len(in.janitors) == 1:
		in.flags.read(in.job, in.janitors[0])
	case len(in.janitors) > 1:
		var all []string
		for _, c := range in.janitors {
			line, _ := c.d.Find(c.at)
			all = append(all, fmt.Sprintf("%s %s (%s:%d)", c.d.Kind(), terminal.Quoted(c.d.Name()), c.d.File, line))
		}
		return terminal.Fail(codes.ImportTwice,
			fmt.Errorf("kube-janitor runs more than once in what was given: %s", strings.Join(all, ", ")),
			"import each alone, from its own files: its workload and its rules")
	case in.first == nil: // there is nothing of kube-janitor
	case len(in.others) > 0 || in.fromCluster:
		in.flags.unknown = true
		for _, d := range in.others {
			in.lost(d, "", "is not recognised as kube-janitor, and no other workload is: its flags are not carried over",
				"give its container the name kube-janitor if it is, or leave it out, and import again: "+unknownFlags)
		}
	default:
		in.differsAll("no workload of kube-janitor was given: its default flags are assumed")
	}
	return nil
}
