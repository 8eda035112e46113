// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// deny fails what is planned and the account of --as may not do, as a run with its rights would, before anything is
// counted. It returns why in words, and how many those are. What could not be found out stays planned: the dry run
// reports it.
func (j *job) deny(ctx context.Context, found *run.Preview) (why string, denied int64) {
	verb := map[v1alpha1.Action]string{v1alpha1.ActionDelete: "delete", v1alpha1.ActionTransform: "patch"}[found.Action]
	account := j.Overrides.AuthInfo.Impersonate
	if account == "" || verb == "" || found.Incomplete != nil || found.Limit != nil || j.dump != nil {
		return "", 0
	}
	d := denials{
		known: map[rights.Right]bool{}, namespaces: map[string][]string{},
		byName: map[schema.GroupResource]int{}, named: map[schema.GroupResource]bool{},
	}
	for i := range found.Items {
		item := &found.Items[i]
		if item.Result != v1alpha1.OutcomePlanned {
			continue
		}
		if what := d.of(ctx, j, verb, item.Object); what != "" {
			item.Result, item.Detail = v1alpha1.OutcomeFailed, account+" may not "+what
			denied++
		}
	}
	if d.unasked > 0 {
		j.Note("%s may touch some of the objects by their names (resourceNames); it was not asked about %s",
			terminal.OneLine(account), terminal.Grouped(d.unasked, "more object"))
	}
	if denied == 0 {
		return "", 0
	}
	return account + " may not " + d.words(), denied
}

// maxAskedByName is of how many objects of a kind it is asked by their names whether the account may touch them: a rule
// may have resourceNames. It is no more than a second's work.
const maxAskedByName = 100

// denials are what an account may not do.
type denials struct {
	known map[rights.Right]bool
	// byName is of how many objects of a resource it was asked by their names, and named is whether it may touch one of
	// them: then of unasked more it is not known.
	byName  map[schema.GroupResource]int
	named   map[schema.GroupResource]bool
	unasked int64
	// namespaces are where it may not do something, by what that is, which stands in order.
	namespaces map[string][]string
	order      []string
}

// of says what the account may not do with an object. It is empty if it may, or if that is not known.
func (d *denials) of(ctx context.Context, j *job, verb string, o object.Object) string {
	group := schema.GroupResource{Group: o.Kind.Group, Resource: o.Kind.Resource}
	right := rights.Right{Verb: verb, Group: group.Group, Resource: group.Resource}
	what := verb + " " + group.String()
	if d.may(ctx, j, right) {
		return ""
	}
	if right.Namespace = o.Namespace; right.Namespace != "" && d.may(ctx, j, right) {
		return ""
	}
	if right.Name = o.Name; d.mayByName(ctx, j, right) {
		return ""
	}
	if !slices.Contains(d.order, what) {
		d.order = append(d.order, what)
	}
	if in := d.namespaces[what]; o.Namespace != "" && !slices.Contains(in, o.Namespace) {
		d.namespaces[what] = append(in, o.Namespace)
	}
	return what + within([]string{o.Namespace})
}

// may reports whether the account has the right, or that is not known. It asks once.
func (d *denials) may(ctx context.Context, j *job, right rights.Right) bool {
	may, known := d.known[right]
	if !known {
		has, err := rights.MayI(ctx, j.api, right)
		may = has || err != nil
		d.known[right] = may
	}
	return may
}

// mayByName reports whether the account may touch an object by its name, or that is not known.
func (d *denials) mayByName(ctx context.Context, j *job, right rights.Right) bool {
	of := schema.GroupResource{Group: right.Group, Resource: right.Resource}
	if d.byName[of] == maxAskedByName {
		if d.named[of] {
			d.unasked++
		}
		return d.named[of] // otherwise most likely none of the others either
	}
	d.byName[of]++
	may := d.may(ctx, j, right)
	d.named[of] = d.named[of] || may
	return may
}

// words are "delete configmaps in namespace shop, and patch deployments.apps in the namespaces a, b and 7 more".
func (d *denials) words() string {
	parts := make([]string, 0, len(d.order))
	for _, what := range d.order {
		parts = append(parts, what+within(d.namespaces[what]))
	}
	return terminal.OneLine(strings.Join(parts, ", and "))
}

func within(namespaces []string) string {
	switch namespaces = terminal.Compact(namespaces); len(namespaces) {
	case 0:
		return ""
	case 1:
		return " in namespace " + namespaces[0]
	}
	return " in the namespaces " + terminal.Shortened(namespaces, terminal.MaxNames)
}
