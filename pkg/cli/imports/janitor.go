// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// marksSchedule is how often Cleaners look that stand for kube-janitor, which looks every 30 seconds, or for Kyverno's
// label, for which Kyverno looks every minute.
const marksSchedule = "*/10 * * * *"

// janitorMarks are the annotations that kube-janitor reads.
var janitorMarks = []string{"janitor/ttl", "janitor/expires"}

// janitor makes Cleaners of rules files, also in ConfigMaps, and of marks.
func (j *job) janitor(docs []*manifest.Document) (drafts []*draft, err error) {
	all := &janitorInput{job: j}
	for _, d := range docs {
		all.read(d)
	}
	if err := all.readFlags(); err != nil {
		return nil, err
	}
	all.missRules()
	flags, action := all.flags, v1alpha1.ActionDelete
	if flags.dryRun {
		action = v1alpha1.ActionScan
	}
	add := func(from *manifest.Document, line int, what string, c *v1alpha1.Cleaner) {
		flags.limit(c)
		flags.plan(c)
		text, failed := textOf(c)
		if failed != nil {
			err = failed
		}
		drafts = append(drafts, &draft{from: from, what: what, text: text, cleaner: c, action: action, line: line})
	}
	for _, r := range all.rules {
		if c := all.cleanerOf(r); c != nil {
			add(r.d, r.line, "rule "+r.ID+" of kube-janitor", c)
		}
	}
	if c, from := all.marks(); c != nil {
		add(from, 0, "the annotations of kube-janitor", c)
		all.reportOwned()
	}
	if len(drafts) > 0 && !flags.hasInterval {
		j.differsAll("kube-janitor looks every 30 seconds, and the Cleaners every 10 minutes: change spec.schedule if that is too seldom")
	}
	return drafts, err
}

// janitorInput is all that was given of kube-janitor.
type janitorInput struct {
	*job
	rules []*rule
	flags janitorFlags
	// hasRules is true when there was a rules file, also one that cannot be read.
	hasRules bool
	// marked are the objects that bear its annotations, and first is the first thing that was given.
	marked []*manifest.Document
	first  *manifest.Document
	// janitors are the containers that run kube-janitor, and others are workloads that may be it under another name.
	janitors []container
	others   []*manifest.Document
}

func (in *janitorInput) read(d *manifest.Document) {
	switch {
	case d.Kind() == "" && isRules(d.Value["rules"]):
		in.readRules(d, d.Raw, d.Node, 0)
	case d.Kind() == "ConfigMap" && in.readConfigMap(d):
	default:
		isMarked := in.readMarks(d)
		found, isWorkload := janitorsIn(d)
		in.janitors = append(in.janitors, found...)
		switch {
		case len(found) > 0:
			in.seen(d)
		case isWorkload && !isMarked: // kube-janitor does not mark itself for deletion
			in.others = append(in.others, d)
		}
	}
}

// missRules says that kube-janitor reads rules that were not given.
func (in *janitorInput) missRules() {
	if f := in.flags; f.rulesFile != "" && !in.hasRules {
		in.lost(f.found, f.rulesField, "the rules of "+f.rulesFile+" are not carried over: no rules file and no ConfigMap with rules was found",
			"give the rules file, or the ConfigMap with it, and this manifest as files, and import again")
	}
}

func (in *janitorInput) seen(d *manifest.Document) {
	if in.first == nil {
		in.first = d
	}
}

// readConfigMap reads the rules files in a ConfigMap. It is false when there are none.
func (in *janitorInput) readConfigMap(d *manifest.Document) (found bool) {
	data, _ := d.Value["data"].(map[string]any)
	for key := range data {
		text, _ := data[key].(string)
		var file struct{ Rules []any }
		if yaml.Unmarshal([]byte(text), &file) != nil || !isRules(any(file.Rules)) {
			continue
		}
		var root yamlnode.Node
		if yamlnode.Unmarshal([]byte(text), &root) != nil || len(root.Content) == 0 {
			continue
		}
		_, value := d.Find("data[" + key + "]")
		line, _ := d.Within(value, 1, 0)
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			continue
		}
		in.readRules(d, raw, root.Content[0], line-1)
		found = true
	}
	return found
}
