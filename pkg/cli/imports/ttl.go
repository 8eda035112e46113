// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// ttlLabel is the label of objects that Kyverno deletes when their time is over, although no policy names them.
const ttlLabel = "cleanup.kyverno.io/ttl"

// labelled are the objects with the label that were given.
type labelled struct {
	*job
	// kinds are those of the objects whose label KubeCleaner reads, and counts how many there are of each.
	kinds  []schema.GroupVersionKind
	counts map[schema.GroupVersionKind]int
	// owned is how many belong to another object, so that KubeCleaner does not read their label.
	owned int
	first *manifest.Document
	// wrong are the objects whose label cannot be read, by why.
	wrong map[string][]*manifest.Document
}

// read takes note of an object with the label. It is false for any other.
func (l *labelled) read(d *manifest.Document) bool {
	var of unstructured.Unstructured
	of.Object = d.Value
	text, ok := of.GetLabels()[ttlLabel]
	kind := of.GroupVersionKind()
	switch {
	case !ok || kind.Kind == "":
		return false
	case len(of.GetOwnerReferences()) > 0:
		l.owned++
		return true
	}
	label := func(key string) (string, bool) { return text, key == ttlLabel }
	for _, m := range mark.Read(mark.Object{Created: time.Unix(0, 0), Annotation: none, Label: label}) {
		if m.Err != nil {
			l.wrong[m.Err.Error()] = append(l.wrong[m.Err.Error()], d)
		}
	}
	if l.first == nil {
		l.first = d
	}
	if l.counts[kind]++; l.counts[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
	return true
}

// cleaner is a Cleaner that reads the label on the kinds of the objects that were given. Nil when there are none.
func (l *labelled) cleaner() *v1alpha1.Cleaner {
	if len(l.kinds) == 0 {
		return nil
	}
	return l.markCleaner("kyverno-ttl", l.kinds, v1alpha1.MarkKyverno, l.first)
}

// report says what becomes of the label.
func (l *labelled) report() {
	const also = "Kyverno also deletes the objects with the label " + ttlLabel + " when their time is over"
	recipe := terminal.Program + " init ttl-marks writes a Cleaner for the usual kinds"
	if len(l.kinds) == 0 {
		l.differsAll(also + "; none was found to import: if you use it, " + recipe)
	} else {
		var counts []string
		for _, kind := range l.kinds {
			counts = append(counts, fmt.Sprintf("%d %s", l.counts[kind], kind.Kind))
		}
		l.differsAll(fmt.Sprintf("%s; the Cleaner kyverno-ttl reads it on the kinds that have it now (%s): for others, %s",
			also, strings.Join(counts, ", "), recipe))
	}
	if l.owned > 0 {
		l.differsAll(fmt.Sprintf("%s with the label %s %s to another object: KubeCleaner reads no label there; label the owner instead",
			terminal.Counted(l.owned, "object"), ttlLabel, terminal.Plural(int64(l.owned), "belongs", "belong")))
	}
	for why, docs := range l.wrong {
		if more := len(docs) - 1; more > 0 {
			why += fmt.Sprintf(" (also on %s)", terminal.Counted(more, "other object"))
		}
		l.lost(docs[0], "metadata.labels["+ttlLabel+"]", why, "the object stays with KubeCleaner until you correct it")
	}
}

// listLabelled reads the metadata of all objects with the label. It says of which kinds it is not known.
func (j *job) listLabelled(ctx context.Context, api *cluster.Client) (all []manifest.Source, err error) {
	reader := selector.NewReader(api.Raw, cluster.Instant(j.Now()))
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return nil, cluster.RequestError("looking for the label "+ttlLabel, err)
	}
	seen := map[types.UID]bool{} // Events, for example, are of two groups, and a list may begin anew
	each := func(o object.Object) error {
		if seen[o.UID] {
			return nil
		}
		seen[o.UID] = true
		source, err := metadataSource(o)
		all = append(all, source)
		return err
	}
	var unknown []string
	var why error
	for group, err := range catalog.Unserved {
		if !isMeasured(group, "") {
			unknown, why = append(unknown, "the group "+group), err
		}
	}
	for _, kind := range catalog.Kinds {
		if isMeasured(kind.Group, kind.Kind) {
			continue
		}
		err := reader.Each(ctx, selector.Ask{Kind: kind, Labels: ttlLabel, MetadataOnly: true}, each)
		switch {
		case err == nil, apiserver.IsKindAbsent(err), apierrors.IsMethodNotSupported(err):
		case ctx.Err() != nil:
			return nil, cluster.RequestError("looking for the label "+ttlLabel, err)
		default:
			unknown, why = append(unknown, schema.GroupResource{Group: kind.Group, Resource: kind.Resource}.String()), err
		}
	}
	j.reportUnknown(unknown, why)
	return all, nil
}

// isMeasured reports whether a kind is measured at each request: nobody stores, labels or deletes such objects, and
// their lists have no version.
func isMeasured(group, kind string) bool {
	return strings.HasSuffix(group, "metrics.k8s.io") || group == "" && kind == "ComponentStatus"
}

// maxUnknown is how many kinds are named of which something is not known.
const maxUnknown = 5

func (j *job) reportUnknown(unknown []string, why error) {
	if len(unknown) == 0 {
		return
	}
	slices.Sort(unknown)
	named := unknown[:min(len(unknown), maxUnknown)]
	if more := len(unknown) - len(named); more > 0 {
		named = append(slices.Clone(named), fmt.Sprintf("%d more", more))
	}
	wayOut := "import again when the API server can list them"
	if apierrors.IsForbidden(why) {
		wayOut = "import as somebody who may list them"
	}
	j.lostAll(
		fmt.Sprintf("it is not known which objects of %s have the label %s: %v", strings.Join(named, ", "), ttlLabel, why),
		wayOut+", or add a selector for each kind that has it to the Cleaner kyverno-ttl",
	)
}

// metadataSource is what is to be known of an object with the label.
func metadataSource(o object.Object) (manifest.Source, error) {
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return manifest.Source{}, err
	}
	var of unstructured.Unstructured
	of.SetGroupVersionKind(o.Kind.GroupVersionKind)
	of.SetNamespace(metadata.Namespace)
	of.SetName(metadata.Name)
	of.SetLabels(map[string]string{ttlLabel: metadata.Labels[ttlLabel]})
	of.SetOwnerReferences(metadata.OwnerReferences)
	return asSource(&of)
}
