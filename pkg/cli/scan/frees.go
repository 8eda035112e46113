// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// protection is what no Cleaner may touch, as far as objects show it themselves.
type protection struct {
	guard.Protection
	// objects are those that are protected, with the reason.
	objects map[types.UID]string
}

// note keeps an object in mind that is protected, or may be.
func (p *protection) note(o object.Object) {
	reason, err := p.Own(v1alpha1.ActionDelete, o)
	if err != nil {
		reason = err.Error()
	}
	if reason != "" {
		p.objects[types.UID(strings.Clone(string(o.UID)))] = unique.Make(reason).Value()
	}
}

// annotated are the namespaces that are protected with all that is in them by an annotation, as far as the user may
// read them, with the reason.
func (j *job) annotated(ctx context.Context) (protected map[string]string, err error) {
	protected = map[string]string{}
	look := func(o object.Object) error {
		if metadata, err := apiserver.Metadata(o); err == nil {
			protected[strings.Clone(o.Name)] = guard.InNamespace(o.Name, &metadata)
		}
		return nil
	}
	if j.Namespace == "" {
		return protected, j.Reader.Each(ctx, selector.Ask{Kind: search.Namespaces, MetadataOnly: true}, look)
	}
	o, err := j.Reader.Object(ctx, search.Namespaces, "", j.Namespace)
	if err != nil {
		return protected, err
	}
	return protected, look(o)
}

// sum is what deleting the findings would free. It says of each finding whether its object is protected. left are those
// that a Cleaner would leave alone, by the reason why. After the scan was stopped there is no sum:
// what protects objects can no longer be read.
func (j *job) sum(ctx context.Context, findings []search.Finding) (frees search.Frees, left map[string]int) {
	if len(findings) == 0 {
		return frees, nil
	}
	annotated, err := j.annotated(ctx)
	if ctx.Err() != nil {
		return frees, nil
	}
	counted, left := map[types.UID]bool{}, map[string]int{}
	for i := range findings {
		f := findings[i].Of
		if !findings[i].Actionable {
			continue
		}
		findings[i].Protected = cmp.Or(j.protected.objects[f.UID], annotated[f.Namespace], f.Protected)
		if counted[f.UID] {
			continue
		}
		counted[f.UID] = true
		if why := leftAlone(&findings[i]); why != "" {
			left[why]++
		} else {
			frees.Add(f)
		}
	}
	if err != nil && j.Dump == nil && frees.Objects > 0 { // what manifests do not hold is said elsewhere
		j.Note("which namespaces are protected is not known, so the sum may count what no Cleaner would delete: %s",
			terminal.OneLine(err.Error()))
	}
	return frees, left
}

// leftAlone is why a Cleaner would leave the object alone. Empty when it would not.
func leftAlone(f *search.Finding) string {
	switch {
	case f.Protected != "":
		return "protected"
	case f.ManagedBy != "":
		return "managed by " + managerOf(f.Of)
	}
	return ""
}

// managerOf is the tool that manages an object: its name has that of a release or an application behind it.
func managerOf(f *finding.Finding) string {
	for _, tool := range []string{"Argo CD", "Flux", "Helm", "add-on"} {
		if strings.HasPrefix(f.Managed, tool) {
			return tool
		}
	}
	return f.Managed
}

// freed is a sentence about what deleting would free.
func (r *Result) freed() string {
	if r.Frees.Objects == 0 && len(r.NotCounted) == 0 {
		return ""
	}
	text := " None of this may be deleted"
	if r.Frees.Objects > 0 {
		text = " Deleting what may be deleted would remove " + terminal.Counted(r.Frees.Objects, "object")
		if frees := words(&r.Frees); len(frees) > 0 {
			text += ", and free " + strings.Join(frees, ", ")
		}
	}
	if len(r.NotCounted) == 0 {
		return text + "."
	}
	var left []string // what is protected first
	for _, why := range slices.Backward(slices.Sorted(maps.Keys(r.NotCounted))) {
		left = append(left, fmt.Sprintf("%d %s", r.NotCounted[why], why))
	}
	return text + " (not counted: " + strings.Join(left, ", ") + ")."
}
