// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
)

// rule is one of a rules file.
type rule struct {
	ID        string   `json:"id"`
	Resources []string `json:"resources"`
	JMESPath  string   `json:"jmespath"`
	TTL       string   `json:"ttl"`

	d    *manifest.Document
	line int
	// conditionLine is that of the jmespath.
	conditionLine int
	// kinds are those of the resources that are known, and condition the JMESPath in CEL.
	kinds     []schema.GroupVersionKind
	condition string
	unused    bool
	// also is what the rule finds besides what is Unused.
	also string
	lost error
}

// noRules is what follows when a rule cannot be read: kube-janitor does not start with such a file either.
const noRules = ": no rule of the file was carried over"

// readRules reads a rules file, of which the lines are so many further down.
func (in *janitorInput) readRules(d *manifest.Document, raw []byte, root *yamlnode.Node, down int) {
	in.seen(d)
	in.hasRules = true
	var file struct{ Rules []json.RawMessage }
	if err := json.Unmarshal(raw, &file); err != nil {
		in.unreadable(d, 0, err, noRules)
		return
	}
	_, list := manifest.Child(root, "rules")
	var rules []*rule
	for i, text := range file.Rules {
		if string(text) == "null" {
			continue
		}
		r := &rule{d: d}
		if list != nil && i < len(list.Content) {
			r.line = list.Content[i].Line + down
			if key, _ := manifest.Child(list.Content[i], "jmespath"); key != nil {
				r.conditionLine = key.Line + down
			}
		}
		if err := json.Unmarshal(text, r); err != nil {
			in.unreadable(d, r.line, err, noRules)
			return
		}
		r.ID = cmp.Or(r.ID, strconv.Itoa(i+1))
		rules = append(rules, r)
	}
	for _, r := range rules {
		in.translate(r)
	}
	in.rules = append(in.rules, rules...)
}

// isRules reports whether a value is a list of kube-janitor's rules. Other tools have lists of rules, too.
func isRules(value any) bool {
	list, _ := value.([]any)
	return slices.ContainsFunc(list, func(one any) bool {
		fields, _ := one.(map[string]any)
		return fields["resources"] != nil && fields["ttl"] != nil
	})
}

func (in *janitorInput) loseRule(r *rule, message, hint string) {
	in.lostAt(r.d, r.line, "rule "+r.ID+": "+message, hint)
}

// translate finds the kinds of a rule, and its condition.
func (in *janitorInput) translate(r *rule) {
	if len(r.Resources) == 0 {
		in.loseRule(r, "has no resources, so no Cleaner was written", "name the resources that you mean, and import again")
	}
	for _, plural := range r.Resources {
		kind, ok := in.kinds.resource("*", plural)
		switch {
		case ok:
			r.kinds = append(r.kinds, kind)
		case plural == "*":
			in.loseRule(
				r,
				`resources "*" is not carried over: a Cleaner names its kinds`,
				"name the resources that you mean, and import again",
			)
		default:
			in.loseRule(r, fmt.Sprintf("%q is not carried over: import does not know this kind", plural),
				"add a selector for its group, version and kind to the Cleaner")
		}
	}
	text := strings.TrimSpace(r.JMESPath)
	if r.takesUnused(text) {
		return
	}
	if text == "" {
		r.lost = errors.New("it is missing")
		return
	}
	e, err := jmespath.Parse(text)
	if err == nil {
		r.condition, err = jmespath.Condition(e)
	}
	if len(r.kinds) > 1 {
		r.condition = untyped(r.condition)
	}
	r.lost = err
}

// cleanerOf is the Cleaner of a rule. Nil when there is nothing to clean.
func (in *janitorInput) cleanerOf(r *rule) *v1alpha1.Cleaner {
	after := mark.Read(mark.Object{
		Created:    time.Unix(0, 0),
		Label:      none,
		Annotation: func(key string) (string, bool) { return r.TTL, key == janitorMarks[0] },
	})
	switch {
	case len(after) == 0 || after[0].Err != nil:
		in.loseRule(r, fmt.Sprintf("ttl %q cannot be read, so no Cleaner was written", r.TTL),
			"write a number and one of s, m, h, d, w, such as 7d, or forever")
		return nil
	case after[0].Never:
		in.differsAt(r.d, r.line, fmt.Sprintf("rule %s: ttl %s keeps what the rule matches, so no Cleaner was written for it: "+
			"the Cleaners of the rules after it leave that alone, but other Cleaners may touch it", r.ID, r.TTL),
			"to keep these objects from every Cleaner, annotate them with "+v1alpha1.ProtectAnnotation+"=true")
		return nil
	}
	kinds := in.kindsOf(r)
	if len(kinds) == 0 {
		return nil // that was reported
	}
	c := in.newCleaner("kube-janitor-"+r.ID, marksSchedule)
	for _, kind := range kinds {
		s := in.selectorOf(r, kind, after[0].Ends.Sub(time.Unix(0, 0)))
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, s)
	}
	conditionLine := cmp.Or(r.conditionLine, r.line)
	switch {
	case r.lost != nil:
		in.lostAt(r.d, conditionLine, "rule "+r.ID+": its jmespath is not carried over: "+r.lost.Error(),
			fmt.Sprintf(holeHint, hole(1).Name))
	case r.unused && r.also != "":
		in.lostAt(r.d, conditionLine, "rule "+r.ID+": finds more than its Cleaner: "+r.also+", which is not Unused",
			"if these shall go, too, delete first what names them")
	}
	if r.unused && in.keepAction {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](findingLimit)}
	}
	return c
}

// kindsOf are the kinds of a rule that kube-janitor looks at.
func (in *janitorInput) kindsOf(r *rule) (kinds []schema.GroupVersionKind) {
	for _, kind := range r.kinds {
		plural := pluralOf(kind)
		const leftOut = "rule %s: %s are left out: %s"
		switch never, why := neverReads(kind), in.flags.leavesOut(plural); {
		case never != "":
			in.differsAt(r.d, r.line, fmt.Sprintf(leftOut, r.ID, plural, never), "")
		case why != "":
			in.differsAt(r.d, r.line, fmt.Sprintf(leftOut, r.ID, plural, why),
				"if the rule shall delete them, "+changeResources)
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// selectorOf selects the objects of a kind that a rule deletes at an age.
func (in *janitorInput) selectorOf(r *rule, kind schema.GroupVersionKind, age time.Duration) v1alpha1.ResourceSelector {
	s := v1alpha1.ResourceSelector{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
	s.MinAgeSeconds = ptr.To(int64(age / time.Second))
	s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{
		Name: "no-mark", Expression: "!has(object.metadata.annotations) || !('" + strings.Join(janitorMarks,
			"' in object.metadata.annotations || '") + "' in object.metadata.annotations)",
	})
	s.MatchConditions = append(s.MatchConditions, in.earlier(r, kind)...)
	switch {
	case r.unused:
		s.Finding = &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}
	case r.lost == nil:
		s.MatchConditions = append(
			s.MatchConditions,
			v1alpha1.MatchCondition{Name: "rule", Expression: unwrappedOnce(r.condition)},
		)
		in.comesFromLine(r.d, unwrappedOnce(r.condition), r.conditionLine)
	default:
		s.MatchConditions = append(s.MatchConditions, hole(1))
	}
	return s
}

// findingLimit is how many objects a Cleaner may delete by a finding, until somebody writes another number.
const findingLimit = 50

func none(string) (string, bool) { return "", false }

// earlier are conditions that no rule before this one matches: kube-janitor takes the first that does.
func (in *janitorInput) earlier(of *rule, kind schema.GroupVersionKind) (conditions []v1alpha1.MatchCondition) {
	for _, r := range in.rules {
		if r == of {
			return conditions
		}
		if !slices.Contains(r.kinds, kind) && !slices.Contains(r.Resources, "*") {
			continue
		}
		expression := "!" + r.condition
		if r.lost != nil || r.unused {
			expression = "false"
			in.loseRule(
				of,
				fmt.Sprintf("it counts only where rule %s before it does not match, which cannot be said in a condition", r.ID),
				fmt.Sprintf("the Cleaner selects nothing until you replace its condition %q", "not-"+nameOf(r.ID)),
			)
		}
		conditions = append(
			conditions,
			v1alpha1.MatchCondition{Name: unused("not-"+nameOf(r.ID), conditions), Expression: expression},
		)
	}
	return conditions
}
