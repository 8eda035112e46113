// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"
	"unique"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// labelNamesOf are the names of an object's labels.
func labelNamesOf(o *object.Parts) (names []string) {
	for name := range o.At("metadata", "labels").Fields() {
		names = append(names, unique.Make(name.String()).Value())
	}
	return names
}

// noteSidecars takes note of the labels by which sidecars find ConfigMaps and Secrets. That of Grafana's chart has
// variables for the label, which users choose, and for the directory of the files.
func (f *Finder) noteSidecars(spec object.JSON) {
	for _, containers := range []string{"containers", "initContainers"} {
		for container := range spec.Field(containers).Elements() {
			var label, folder string
			for variable := range container.Field("env").Elements() {
				switch value := variable.Field("value").Text(); variable.Field("name").Text() {
				case "LABEL":
					label = value
				case "FOLDER":
					folder = value
				}
			}
			if label != "" && folder != "" && !f.sidecars[label] {
				f.sidecars[strings.Clone(label)] = true
				f.bytes += int64(48 + len(label))
			}
		}
	}
}

// sidecarOf says that a sidecar reads a candidate by one of its labels. Empty when none is known to.
func (f *Finder) sidecarOf(c *candidate) string {
	if !c.row.isReadable() {
		return ""
	}
	for _, label := range c.marks {
		if f.sidecars[label] {
			return "a sidecar reads each " + c.kind.Kind + " with the label " + label
		}
	}
	return ""
}
