// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Hash is a hash of the spec: the same for the same fields and values, also in later versions of the API, which add
// fields.
func (s *CleanerSpec) Hash() string {
	// Through a map, so that the order of the fields in the type does not matter.
	text, err := json.Marshal(s)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err == nil {
		text, err = json.Marshal(fields)
	}
	if err != nil { // of what an API server sent there is none
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Stamp names a state of a spec: "4-" and its hash in generation 4.
func Stamp(generation int64, hash string) string { return fmt.Sprintf("%d-%s", generation, hash) }

// AnnotatedStamp is the stamp of the spec that the operator saw last, as ObservedSpecAnnotation says. Empty when it
// does not say, or says it of another Cleaner, of which this one is a copy.
func (c *Cleaner) AnnotatedStamp() string {
	uid, stamp, _ := strings.Cut(c.Annotations[ObservedSpecAnnotation], " ")
	if uid != string(c.UID) {
		return ""
	}
	return stamp
}

// LostFieldsWords are why a Cleaner that lost fields does not run, and the way out.
const LostFieldsWords = "its spec may lack fields: for a while the CustomResourceDefinitions in the cluster were not those of KubeCleaner, and the API server dropped or added fields. Apply the Cleaner's manifest again. If that changes nothing, or the spec is right as it is, edit any field of it"

// LostFields reports whether the spec is another than it was in the same generation, to which a stamp belongs. Nobody
// edited it, so the API server dropped or added fields: for a while, its CustomResourceDefinition was not the
// operator's. It is not known, and false, of an empty stamp and of one of another generation.
func (c *Cleaner) LostFields(stamp string) bool {
	var generation int64
	var hash string
	n, _ := fmt.Sscanf(stamp, "%d-%s", &generation, &hash)
	return n == 2 && generation == c.Generation && hash != c.Spec.Hash()
}
