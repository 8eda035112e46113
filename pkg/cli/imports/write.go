// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// draft is a Cleaner that is to be written.
type draft struct {
	from *manifest.Document
	// what names the source: "ClusterCleanupPolicy old-pods".
	what string
	text []byte
	// cleaner is what text says, and action is what its source does.
	cleaner *v1alpha1.Cleaner
	action  v1alpha1.Action
	// line is where the source begins. 0 for the document's.
	line int
	// node is the Cleaner itself, where its source is a Cleaner: its fields are those of the source.
	node *yamlnode.Node
}

// String is the Cleaner as YAML, with a comment that says where it comes from.
func (d *draft) String() string {
	var text strings.Builder
	fmt.Fprintf(
		&text,
		"---\n# From %s, %s:%d\n",
		terminal.OneLine(d.what),
		terminal.OneLine(d.from.File),
		cmp.Or(d.line, d.from.Line),
	)
	text.Write(d.text)
	return text.String()
}

// newCleaner is a Cleaner that only reports or, with --keep-action, deletes. No two have the same name.
func (j *job) newCleaner(name, schedule string) *v1alpha1.Cleaner {
	action := v1alpha1.ActionScan
	if j.keepAction {
		action = v1alpha1.ActionDelete
	}
	name = nameOf(name)
	if j.names[name]++; j.names[name] > 1 {
		name = fmt.Sprintf("%s-%d", name, j.names[name])
	}
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.APIVersion, c.Kind = v1alpha1.GroupVersion.String(), "Cleaner"
	c.Spec.Schedule, c.Spec.Action = schedule, &action
	return c
}

// textOf is a Cleaner as YAML, its fields in the order of the API, without what the API server adds.
func textOf(c *v1alpha1.Cleaner) ([]byte, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var root yamlnode.Node // JSON is YAML, and the order of fields stays
	if err := yamlnode.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	node := copied(root.Content[0], true)
	remove(node, "status")
	remove(get(node, "metadata"), "creationTimestamp")
	moveFirst(node, "apiVersion")
	moveFirst(get(node, "spec"), "action")
	moveFirst(get(node, "spec"), "schedule")
	return encode(node)
}

var conditionName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

// conditionNameOf is the name of a condition, as it is where a Cleaner may have it.
func conditionNameOf(text string) string {
	if len(text) <= 63 && conditionName.MatchString(text) {
		return text
	}
	return nameOf(text)
}

var notInNames = regexp.MustCompile(`[^a-z0-9.-]+`)

// maxName is how long the name of an object may be.
const maxName = 253

// nameOf makes a name of a text.
func nameOf(text string) string {
	text = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-.")
	if len(text) > maxName {
		text = strings.Trim(text[:maxName], "-.")
	}
	if text == "" {
		return "imported"
	}
	return text
}

// hole is a condition that nothing fulfils: it stands for one that could not be carried over. Without it, the Cleaner
// would select more than its source.
func hole(n int) v1alpha1.MatchCondition {
	return v1alpha1.MatchCondition{Name: fmt.Sprintf("not-carried-over-%d", n), Expression: "false"}
}

// holeHint says what to do with a hole.
const holeHint = `the Cleaner selects nothing until you replace its condition %q with one in CEL`
