// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"bytes"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// texts are the candidates whose names stand in the data of ConfigMaps: the configuration of a runner of jobs names
// the claims, the accounts, the Secrets and the classes of Pods that it makes. That proves nothing, but somebody may
// use them.
type texts struct {
	// sought are the names of candidates, by namespace, with where they stand: "data[config.toml] of ConfigMap
	// ci/runner". Empty for those that stand in no text. Nil before the first text. Apart are those that are often
	// common words: of ConfigMaps, roles and Namespaces.
	sought, soughtWords map[string]map[string]string
	// words are all these names and namespaces: most words of a text are none of them.
	words map[string]bool
}

// inTexts are the kinds whose names are looked for.
var inTexts = []schema.GroupKind{
	configMaps, claims, accounts, secrets, storageClasses, priorityClasses, runtimeClasses, ingressClasses, roles,
	clusterRoles, namespaces,
}

func (r *row) mayStandInTexts() bool {
	return (r.named || r.kind == namespaces && r.typ == v1alpha1.FindingUnused) && slices.Contains(inTexts, r.kind)
}

// readTexts looks for the names of the candidates that have passed in the data of an object. A word with a dash may
// also be a name in another namespace that stands in the data. Of the text nothing is kept but its place.
func (f *Finder) readTexts(o *object.Parts) {
	if f.sought == nil {
		f.seek()
	}
	elsewhere := map[string]bool{}
	dashed := map[string]object.Key{}
	for key, text := range o.At("data").Fields() {
		graph.EachName(o.Namespace, text, func(namespace string, word []byte, isWhole bool) {
			if !f.words[string(word)] {
				return
			}
			f.foundIn(namespace, word, isWhole, key, o)
			f.foundIn("", word, false, key, o) // what is cluster-scoped is meant in any namespace
			if _, is := dashed[string(word)]; !is && bytes.IndexByte(word, '-') >= 0 {
				dashed[string(word)] = key
			}
			if name := string(word); name != o.Namespace && f.hasCandidates(name) {
				elsewhere[name] = true
			}
		})
	}
	if slices.Contains(defaultsOfAll, o.Name) {
		elsewhere = f.soughtNamespaces()
	}
	for namespace := range elsewhere {
		for word, key := range dashed {
			f.foundIn(namespace, []byte(word), false, key, o)
		}
	}
}

// defaultsOfAll are ConfigMaps in which well-known software has its defaults for all namespaces: Argo Workflows, Tekton
// and KServe name Secrets and accounts there, and find them in the namespace of each workflow, run or model.
var defaultsOfAll = []string{
	"workflow-controller-configmap", "artifact-repositories", "config-defaults", "inferenceservice-config",
}

// soughtNamespaces are the namespaces with candidates.
func (f *Finder) soughtNamespaces() map[string]bool {
	all := map[string]bool{}
	for _, names := range []map[string]map[string]string{f.sought, f.soughtWords} {
		for namespace := range names {
			all[namespace] = true
		}
	}
	return all
}

// hasCandidates reports whether a word is a namespace with candidates.
func (f *Finder) hasCandidates(word string) bool {
	return f.sought[word] != nil || f.soughtWords[word] != nil
}

// foundIn takes note of where a word stands that is the name of a candidate of the namespace. ConfigMaps and roles
// have names such as "config": those count with a dash, or with their namespace, and not in their own data. isWhole
// says that the namespace stands before the word.
func (f *Finder) foundIn(namespace string, word []byte, isWhole bool, key object.Key, in *object.Parts) {
	f.foundAmong(f.sought[namespace], word, key, in)
	isOwn := namespace == in.Namespace && string(word) == in.Name
	if !isOwn && (isWhole || namespace != "" && namespace != in.Namespace || bytes.IndexByte(word, '-') >= 0) {
		f.foundAmong(f.soughtWords[namespace], word, key, in)
	}
}

func (f *Finder) foundAmong(names map[string]string, word []byte, key object.Key, in *object.Parts) {
	if where, is := names[string(word)]; is && where == "" {
		names[string(word)] = fmt.Sprintf("data[%s] of %s", key.String(), graph.NameOf(in.Object))
		f.bytes += int64(len(names[string(word)]))
	}
}

// seek takes the names of the candidates that have passed.
func (f *Finder) seek() {
	f.sought, f.soughtWords = map[string]map[string]string{}, map[string]map[string]string{}
	f.words = map[string]bool{}
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if !c.row.mayStandInTexts() {
				continue
			}
			into := f.soughtFor(c.row)
			if into[c.namespace] == nil {
				into[c.namespace] = map[string]string{}
			}
			into[c.namespace][c.name] = ""
			f.words[c.namespace], f.words[c.name] = true, true
			f.bytes += 120
		}
	}
}

func (f *Finder) soughtFor(r *row) map[string]map[string]string {
	if slices.Contains([]schema.GroupKind{configMaps, roles, clusterRoles, namespaces}, r.kind) {
		return f.soughtWords
	}
	return f.sought
}

// heedsTexts reports whether a text in which the name of an object stands makes a finding of the row Weak. What is only
// reported is not deleted by mistake, and Nodes and definitions stand in many custom resources.
func (r *row) heedsTexts() bool {
	isUse := r.typ == v1alpha1.FindingUnused || r.typ == v1alpha1.FindingIdle
	return isUse && r.actionable
}

// textsFor are the kinds that are read because the names of a row's objects may stand in their texts: all of them, as
// a scan of everything reads them.
func (f *Finder) textsFor(r *row) []schema.GroupKind {
	if !r.heedsTexts() {
		return nil
	}
	return f.Table.TextKinds()
}

// annotated are the kinds that are read because the names of a row's objects may stand in their annotations.
func (r *row) annotated() []schema.GroupKind {
	if r.isReadable() {
		return graph.AnnotatedKinds
	}
	return nil
}

// mentioned says in which text of Pods and custom resources the name of an object stands, where that was kept.
func (f *Finder) mentioned(name graph.Name) string {
	texts := f.graph.Texts(name)
	if len(texts) == 0 {
		return "a text of a Pod, a volume or a custom resource"
	}
	where := fmt.Sprintf("%s of %s", texts[0].Path, texts[0].In)
	if len(texts) > 1 {
		where += fmt.Sprintf(" and %d more", len(texts)-1)
	}
	return where
}

// inText says where the name of a candidate stands in the data of ConfigMaps. Empty when it does not, or when they
// could not be read: then the finding is unknown.
func (f *Finder) inText(c *candidate) string {
	if !c.row.mayStandInTexts() || c.reported {
		return ""
	}
	if where := f.soughtFor(c.row)[c.namespace][c.name]; where != "" {
		return "its name is in " + where
	}
	return ""
}
