// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// changes are what the flags change of a recipe. What is empty stays as it is.
type changes struct {
	kinds                                             []string
	namespace, namespaceSelector, long, when, as, act string
	allNamespaces                                     bool
}

var changeFlags = []string{
	"kind", "namespace", "all-namespaces", "namespace-selector", "for", "schedule", "name", "action",
}

func (c *changes) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&c.kinds, "kind", nil, "keep only the selectors of these kinds, for example ConfigMap,Secret")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "look in this namespace only (default: where the recipe looks)")
	flags.BoolVarP(&c.allNamespaces, "all-namespaces", "A", false, "look in all namespaces, as most recipes do")
	flags.StringVar(
		&c.namespaceSelector,
		"namespace-selector",
		"",
		"look in the namespaces with these labels only, for example env=test",
	)
	flags.StringVar(&c.long, "for", "", "the time to use instead of that of the recipe, for example 36h, 14d or 2w")
	flags.StringVar(&c.when, "schedule", "", "when it runs, in cron syntax, for example '0 3 * * *'")
	flags.StringVar(&c.as, "name", "", "the name of the Cleaner (default: that of the recipe)")
	flags.Var(
		terminal.NewChoice(
			&c.act,
			string(v1alpha1.ActionScan),
			string(v1alpha1.ActionDelete),
			string(v1alpha1.ActionTransform),
		),
		"action",
		"what it does with what it finds: Scan (only report), Delete or Transform",
	)
	terminal.NotEmpty(flags, "kind", "namespace", "namespace-selector", "for", "schedule", "name")
}

// words are the flags that change something, as they were given.
func (c *changes) words() string {
	var words []string
	if c.allNamespaces {
		words = append(words, "--all-namespaces")
	}
	for _, flag := range [][2]string{
		{"kind", strings.Join(c.kinds, ",")},
		{"namespace", c.namespace},
		{"namespace-selector", c.namespaceSelector},
		{"for", c.long},
		{"schedule", c.when},
		{"name", c.as},
		{"action", strings.TrimPrefix(c.act, string(v1alpha1.ActionScan))},
	} {
		if flag[1] != "" {
			words = append(words, "--"+flag[0]+" "+terminal.ShellWord(terminal.OneLine(flag[1])))
		}
	}
	return strings.Join(words, " ")
}

// apply is the Cleaner of the recipe with the changes. The notes say what was left out. All flags that the recipe
// cannot honour are one error.
func (c *changes) apply(r *recipe) (text string, notes []string, err error) {
	if err := errors.Join(c.refuseQueries(r), c.refusePart(r)); err != nil {
		return "", nil, err
	}
	var document yamlnode.Node
	if err := yamlnode.Unmarshal([]byte(r.Cleaner), &document); err != nil {
		return "", nil, err
	}
	root := document.Content[0]
	_, metadata := manifest.Child(root, "metadata")
	_, spec := manifest.Child(root, "spec")
	_, set := manifest.Child(spec, "resourcePolicySet")
	title, list := manifest.Child(set, "resourceSelectors")
	if metadata == nil || list == nil {
		return "", nil, errors.New("its cleaner.yaml has no metadata or no resourceSelectors")
	}
	wrong := []error{c.keepKinds(r, list)}
	note, err := c.setNamespaces(list)
	wrong = append(wrong, err, c.setTime(r, title, list), c.setSchedule(r, spec))
	if err := errors.Join(wrong...); err != nil {
		return "", nil, err
	}
	if c.as != "" {
		setText(metadata, "name", c.as)
	}
	if c.act != string(v1alpha1.ActionScan) {
		setText(spec, "action", c.act)
	}
	var out strings.Builder
	encoder := yamlnode.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	err = errors.Join(encoder.Encode(&document), encoder.Close())
	return out.String(), terminal.Compact([]string{note}), err
}

// refuseQueries refuses to move a recipe away from what its queries measure: their texts have a namespace and a time,
// too.
func (c *changes) refuseQueries(r *recipe) error {
	selectors := r.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	queries := slices.ContainsFunc(selectors, func(s v1alpha1.ResourceSelector) bool { return s.WantsMetrics() })
	if queries && (c.namespace != "" || c.namespaceSelector != "" || c.allNamespaces || c.long != "") {
		return errors.New(
			"you cannot use --namespace, --namespace-selector, --all-namespaces or --for with this recipe: its metricQueries name the namespace and the time; " +
				"run init without these flags, and edit both",
		)
	}
	return nil
}

// ofWholeCluster are the recipes that decide about an object by objects in other namespaces.
var ofWholeCluster = []string{"pull-request-leftovers"}

// refusePart refuses to hide objects from such a recipe: it would delete what they keep.
func (c *changes) refusePart(r *recipe) error {
	if c.namespace == "" && c.namespaceSelector == "" || !slices.Contains(ofWholeCluster, r.Name) {
		return nil
	}
	return errors.New(
		"you cannot use --namespace or --namespace-selector with this recipe: an object in any namespace can keep the others, and it must see them all; " +
			"run init without these flags, and protect the namespaces that it must not touch: " +
			"kubectl annotate namespace NAME " + v1alpha1.ProtectAnnotation + "=true",
	)
}

// keepKinds takes out the selectors of other kinds.
func (c *changes) keepKinds(r *recipe, list *yamlnode.Node) error {
	if len(c.kinds) == 0 {
		return nil
	}
	if r.cleaner.Spec.ResourcePolicySet.AggregatedSelection != "" {
		return errors.New("you cannot use --kind with this recipe: its script looks at all its kinds together; " +
			"run init without --kind, and change its kinds and the script in the file")
	}
	for _, wanted := range c.kinds {
		if !r.hasKind(wanted) {
			return noKind(r, wanted)
		}
	}
	list.Content = slices.DeleteFunc(list.Content, func(selector *yamlnode.Node) bool {
		kind := kindAt(selector)
		return !slices.ContainsFunc(c.kinds, func(wanted string) bool { return isCalled(kind, wanted) })
	})
	return nil
}

// setNamespaces writes where the selectors look. Kinds without namespaces are left out: the note says so.
func (c *changes) setNamespaces(list *yamlnode.Node) (note string, err error) {
	if c.allNamespaces {
		lookEverywhere(list)
	}
	if c.namespace == "" && c.namespaceSelector == "" {
		return "", nil
	}
	if words := validation.IsDNS1123Label(c.namespace); c.namespace != "" && len(words) > 0 {
		return "", fmt.Errorf("--namespace %s is not the name of a namespace: %s", terminal.Quoted(c.namespace), words[0])
	}
	key, other, value := "namespace", "namespaceSelector", c.namespace
	if c.namespaceSelector != "" {
		key, other, value = other, key, c.namespaceSelector
		if _, err := labels.Parse(value); err != nil {
			return "", fmt.Errorf("--namespace-selector %s cannot be read: %w", terminal.Quoted(value), err)
		}
	}
	var without []string
	list.Content = slices.DeleteFunc(list.Content, func(selector *yamlnode.Node) bool {
		kind := kindAt(selector)
		if !kind.Namespaced {
			without = append(without, kind.Kind)
			return true
		}
		remove(selector, other)
		setText(selector, key, value)
		return false
	})
	if len(list.Content) == 0 {
		flag := map[bool]string{true: "--namespace", false: "--namespace-selector"}[c.namespace != ""]
		return "", fmt.Errorf(
			"you cannot use %s with this recipe: %s objects have no namespace",
			flag,
			strings.Join(slices.Compact(without), ", "),
		)
	}
	if len(without) > 0 {
		note = "left out " + strings.Join(slices.Compact(without), ", ") + ", because these kinds have no namespaces"
	}
	return note, nil
}

// lookEverywhere removes what narrows selectors to some namespaces.
func lookEverywhere(list *yamlnode.Node) {
	for _, selector := range list.Content {
		remove(selector, "namespace")
		remove(selector, "namespaceSelector")
	}
}

// setSchedule writes when it runs, and says it in words.
func (c *changes) setSchedule(r *recipe, spec *yamlnode.Node) error {
	if c.when == "" {
		return nil
	}
	zone := ""
	if r.cleaner.Spec.TimeZone != nil {
		zone = *r.cleaner.Spec.TimeZone
	}
	parsed, err := schedule.Parse(c.when, zone)
	if err != nil {
		return fmt.Errorf("--schedule: %w", err)
	}
	setText(spec, "schedule", c.when).LineComment = "# " + parsed.String()
	return nil
}

// setTime changes the time that each selector has. Those that a script looks at together need none.
func (c *changes) setTime(r *recipe, title, list *yamlnode.Node) error {
	if c.long == "" {
		return nil
	}
	long, err := parseTime(c.long)
	if err != nil {
		return err
	}
	var without []string
	for i, value := range timesOf(list.Content) {
		switch selector := list.Content[i]; {
		case value != nil:
			if age := sameAge(selector, value); age != nil {
				c.writeTime(age, long)
			}
			c.writeTime(value, long)
		case !isTimeless(selector): // that stays as it is
			without = append(without, kindAt(selector).Kind)
		}
	}
	together := r.cleaner.Spec.ResourcePolicySet.AggregatedSelection != ""
	if len(without) == len(list.Content) || len(without) > 0 && !together {
		return fmt.Errorf(
			"you cannot use --for with this recipe: there is no time in its selector of %s, or there are several",
			strings.Join(without, ", "),
		)
	}
	if strings.Contains(title.LineComment, "second") { // it says the old ones in words
		title.LineComment = ""
	}
	return nil
}

// writeTime writes the time into a condition or into a number of seconds.
func (c *changes) writeTime(value *yamlnode.Node, long time.Duration) {
	if value.Tag != "!!int" {
		value.Value = durations.ReplaceAllString(value.Value, "duration('"+short(long)+"')")
		return
	}
	value.Value = strconv.FormatInt(int64(long/time.Second), 10)
	if value.LineComment != "" {
		value.LineComment = "# " + c.long
	}
}

func kindAt(selector *yamlnode.Node) object.Kind {
	text := func(field string) string {
		if _, value := manifest.Child(selector, field); value != nil {
			return value.Value
		}
		return ""
	}
	return dump.KindOf(schema.GroupVersionKind{Group: text("group"), Version: text("version"), Kind: text("kind")})
}

func kindOf(s *v1alpha1.ResourceSelector) object.Kind {
	return dump.KindOf(schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind})
}
