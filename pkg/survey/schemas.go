// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// learnDocument finds out which fields of the kinds in an OpenAPI v3 document name other objects.
// A test puts something simpler in its place.
var learnDocument = graph.LearnDocument

// Schemas keeps what was learned from the schemas that an API server publishes, each document of them until its hash
// changes. The zero value is ready for use, also by several runs at a time.
type Schemas struct {
	mu   sync.Mutex
	kept map[string]document
	// preserving are the kinds of legacy CustomResourceDefinitions, when these were read together with what is kept.
	preserving map[schema.GroupKind]bool
	// unpublished are groups that somebody has waited for in vain.
	unpublished map[string]bool
}

// The API server publishes the schema of a CustomResourceDefinition some time after it serves it. So many times it is
// asked again, after a pause, for each group once. A test has no time.
const publishTries = 5

var publishPause = 500 * time.Millisecond

// document is what was learned from one document.
type document struct {
	// url has the hash of the document in it. Empty, the document is read again.
	url     string
	sources []graph.Source
}

// learn reads the schemas of all custom resources, those that are not kept. The groups whose schemas cannot be had are
// unlearned. It waits for those that are not published yet.
func (s *Schemas) learn(
	ctx context.Context, reader *selector.Reader, catalog *selector.Catalog,
) (sources []graph.Source, unlearned map[string]error, err error) {
	for try := 1; ; try++ {
		sources, unlearned, err = s.learnNow(ctx, reader, catalog)
		if err != nil || !s.isWorthWaiting(unlearned, try) {
			return sources, unlearned, err
		}
		pause := time.NewTimer(publishPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, nil, context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// isWorthWaiting reports whether a schema may be published soon. After the last try, what is not published is not
// waited for any more, until it is.
func (s *Schemas) isWorthWaiting(unlearned map[string]error, try int) (is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unpublished := map[string]bool{}
	for group, err := range unlearned {
		if errors.Is(err, errNoSchema) {
			is = is || !s.unpublished[group]
			unpublished[group] = s.unpublished[group] || try == publishTries
		}
	}
	s.unpublished = unpublished
	return is && try < publishTries
}

func (s *Schemas) learnNow(
	ctx context.Context, reader *selector.Reader, catalog *selector.Catalog,
) (sources []graph.Source, unlearned map[string]error, err error) {
	versions := custom(catalog.Kinds)
	if len(versions) == 0 {
		return nil, nil, nil
	}
	body, err := reader.Document(ctx, "/openapi/v3")
	if err != nil {
		return nil, nil, fmt.Errorf("reading which schemas the API server has (/openapi/v3): %w", err)
	}
	index := object.JSON(body).Field("paths")
	unlearned, kept := map[string]error{}, map[string]document{}
	// In a fixed order, so that the same use is always named by the same path, and the same cause by the same error.
	for _, gv := range slices.SortedFunc(maps.Keys(versions), func(a,
		b schema.GroupVersion,
	) int {
		return strings.Compare(a.String(), b.String())
	}) {
		kinds := versions[gv]
		path := documentPath(gv)
		d, err := s.document(ctx, reader, gv, index.At(path, "serverRelativeURL").Text())
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err == nil {
			kept[path] = d
			err = d.lacks(kinds)
		}
		if err != nil {
			unlearned[gv.Group] = fmt.Errorf("the schemas cannot be read: %w", err)
		}
		for _, source := range d.sources {
			if kinds[schema.ParseGroupKind(source.Kind)] {
				sources = append(sources, source)
			}
		}
	}
	return sources, unlearned, s.open(ctx, reader, sources, kept)
}

// documentPath is the name of a group-version among the documents.
func documentPath(gv schema.GroupVersion) string {
	return strings.TrimPrefix(object.GroupVersionPath(gv), "/")
}

// lacks says which kinds the document does not have, although they are served: it may be older than they are.
func (d document) lacks(kinds map[schema.GroupKind]bool) error {
	var lacking []string
	for kind := range kinds {
		if !slices.ContainsFunc(d.sources, func(s graph.Source) bool { return schema.ParseGroupKind(s.Kind) == kind }) {
			lacking = append(lacking, kind.Kind)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	slices.Sort(lacking)
	return fmt.Errorf("%w for %s", errNoSchema, strings.Join(lacking, ", "))
}

var errNoSchema = errors.New("no schema is published")

// document reads one document, unless it is kept.
func (s *Schemas) document(
	ctx context.Context, reader *selector.Reader, gv schema.GroupVersion, url string,
) (document, error) {
	path := documentPath(gv)
	s.mu.Lock()
	known, ok := s.kept[path]
	s.mu.Unlock()
	if ok && url != "" && known.url == url {
		return known, nil
	}
	if url == "" {
		return document{}, errNoSchema
	}
	at, err := apiserver.SchemaPath(gv, url)
	if err != nil {
		return document{}, err
	}
	body, err := reader.Document(ctx, at)
	if apierrors.IsNotFound(err) { // its CustomResourceDefinition went away meanwhile
		return document{}, nil
	}
	if err != nil {
		return document{}, err
	}
	sources, err := learnDocument(body)
	if !apiserver.IsHashOf(url, body) {
		url = "" // it is unknown whether another document is there the next time
	}
	return document{url, sources}, err
}

// custom are the kinds that are not Kubernetes's own, by group and version.
func custom(kinds []object.Kind) map[schema.GroupVersion]map[schema.GroupKind]bool {
	versions := map[schema.GroupVersion]map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		if isBuiltIn(kind.Group) || isReport(kind.GroupKind()) {
			continue
		}
		gv := kind.GroupVersion()
		if versions[gv] == nil {
			versions[gv] = map[schema.GroupKind]bool{}
		}
		versions[gv][kind.GroupKind()] = true
	}
	return versions
}

// reports are the groups and kinds whose objects say what a tool saw of other objects, what it made, or what a driver
// stores for a volume. They name many, and use none.
var reports = []string{
	"wgpolicyk8s.io", "openreports.io", "reports.kyverno.io", "aquasecurity.github.io",
	"spdx.softwarecomposition.kubescape.io",
	"ResourceTracker.core.oam.dev",
	"ResourceSummary.lib.projectsveltos.io",
	"ResourceBinding.work.karmada.io", "ClusterResourceBinding.work.karmada.io",
	"LogicalVolume.topolvm.io", "LogicalVolume.topolvm.cybozu.com", "TridentVolume.trident.netapp.io",
	"ZFSVolume.zfs.openebs.io", "LVMVolume.local.openebs.io", "CStorVolume.cstor.openebs.io",
	"PodVolumeBackup.velero.io", "PodVolumeRestore.velero.io", "DataUpload.velero.io", "DataDownload.velero.io",
}

func isReport(kind schema.GroupKind) bool {
	return slices.Contains(reports, kind.Group) || slices.Contains(reports, kind.String())
}

// isBuiltIn reports whether the API server itself serves the group, or it is our own, of which the
// table of references knows all.
func isBuiltIn(group string) bool {
	switch group {
	case v1alpha1.GroupVersion.Group, "apiextensions.k8s.io", "apiregistration.k8s.io":
		return true
	}
	return clientgoscheme.Scheme.IsGroupRegistered(group)
}
