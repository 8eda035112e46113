// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// lastApplied is an annotation that repeats the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ofProvisioner is the prefix of what the provisioner passes to a driver: which claim, volume or Pod asks.
const ofProvisioner = `"csi.storage.k8s.io/`

// ofManagers are annotations in which what manages an object says so: the name there is that of a release or an
// application.
var ofManagers = []string{"meta.helm.sh/release-name", "argocd.argoproj.io/tracking-id"}

// isRepeated reports whether what a key of a map holds says nothing of its own.
func isRepeated(key object.Key) bool {
	return key.Is(lastApplied) || bytes.HasPrefix(key, []byte(ofProvisioner)) || slices.ContainsFunc(ofManagers, key.Is)
}

// eachNameIn is EachName for a text of an object, and visits the names of RBAC objects as well. A custom resource may
// name an object and its key: login.tls.crt, or one of the other namespaces that stand in it. It leaves out the
// object's own name, which shows no use.
func eachNameIn(o *object.Parts, others []string, text object.JSON, visit func(namespace string, word []byte)) {
	own, hasKeys := ownName(o), isCustom(o.Kind.Group)
	visitAll := func(namespace string, word []byte) {
		visit(namespace, word)
		for _, other := range others {
			visit(other, word)
		}
	}
	each := func(namespace string, word []byte) {
		if own != "" && string(word) == own {
			return
		}
		visitAll(namespace, word)
		if name, _, found := bytes.Cut(word, []byte{'.'}); hasKeys && found && len(name) >= shortestMention {
			visitAll(namespace, name)
		}
	}
	if word := wholeWord(text); hasKeys && o.Namespace != "" && isShort(word) {
		each(o.Namespace+shortName, word)
	}
	eachName(o.Namespace, text, each)
	eachRoleName(o.Namespace, text, each)
}

// isShort reports whether a word is too short to be a name unless it is all that a text says.
func isShort(word []byte) bool { return len(word) >= shortestInCluster && len(word) < shortestMention }

// wholeWord is a text that is nothing but what could be a name. Nil if it is more than that.
func wholeWord(text object.JSON) []byte {
	if len(text) == 0 || text[0] != '"' {
		return nil
	}
	word := text[1:endOfString(text, 0)]
	if bytes.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !isNamePart(byte(r)) }) >= 0 {
		return nil
	}
	return word
}

// ownName is a name that drivers give what they store: that of a volume's claim. Parameters of a class may be called
// like the class. Empty for other kinds.
func ownName(o *object.Parts) string {
	switch o.Kind.GroupKind() {
	case storageClassKind:
		return o.Name
	case volumeKind:
		return o.At("spec", "claimRef", "name").Text()
	}
	return ""
}
