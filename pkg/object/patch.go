// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// MaxPatch is how many bytes a patch may have: etcd takes no larger object.
const MaxPatch = 3 << 19

// PatchSizeError says that a patch is larger than MaxPatch.
type PatchSizeError struct{ Bytes int }

// Error implements error.
func (e *PatchSizeError) Error() string {
	return fmt.Sprintf(
		"the patch has %d bytes, and etcd holds at most %d bytes of an object: change less of it",
		e.Bytes,
		MaxPatch,
	)
}

// EncodePatch writes a patch. Nil when it changes nothing.
func EncodePatch(patch map[string]any) (JSON, error) {
	if len(patch) == 0 {
		return nil, nil
	}
	text, err := encode(patch)
	if len(text) > MaxPatch {
		return nil, &PatchSizeError{len(text)}
	}
	return text, err
}

// encode writes a value in as many bytes as its texts have: encoding/json would make six of each <, > and &.
func encode(value any) (JSON, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(buffer.Bytes(), "\n"), err
}

// DecodePatch is the patch as a map. Nil when it changes nothing.
func DecodePatch(patch JSON) (map[string]any, error) {
	if len(patch) == 0 {
		return nil, nil
	}
	value, err := patch.Decode()
	fields, ok := value.(map[string]any)
	if err == nil && !ok {
		err = errors.New("the patch is no map")
	}
	return fields, err
}

// StoredPatch is a merge patch of the object as the API server stores it: what stringData sets in a Secret moves into
// data. Nil when it changes nothing.
func (o Object) StoredPatch(patch JSON) (map[string]any, error) {
	fields, err := DecodePatch(patch)
	plain, ok := fields["stringData"].(map[string]any)
	if err != nil || !ok || !o.IsSecret() {
		return fields, err
	}
	data, isMap := fields["data"].(map[string]any)
	if _, set := fields["data"]; set && !isMap { // it removes all data first, which no patch of data alone can say
		return fields, nil
	}
	delete(fields, "stringData")
	for key, value := range plain {
		text, ok := value.(string)
		if !ok { // null, as the API server takes nothing else: it removes a key that is never there
			continue
		}
		if data == nil {
			data = map[string]any{}
			fields["data"] = data
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return fields, nil
}

// AtVersion puts a resourceVersion into a patch: the API server answers with a conflict when the object has any other.
func AtVersion(patch JSON, resourceVersion string) (JSON, error) {
	version, err := encode(resourceVersion)
	if err != nil {
		return nil, err
	}
	var whole, metadata map[string]json.RawMessage
	if err := json.Unmarshal(patch, &whole); err != nil {
		return nil, err
	}
	if patch.Field("metadata").Type() == Map {
		if err := json.Unmarshal(whole["metadata"], &metadata); err != nil {
			return nil, err
		}
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	metadata["resourceVersion"] = json.RawMessage(version)
	guarded, err := encode(metadata)
	if err != nil {
		return nil, err
	}
	whole["metadata"] = json.RawMessage(guarded)
	return encode(whole)
}

// CheckPatch refuses a merge patch that touches what says which object it is for.
func CheckPatch(patch map[string]any) error {
	var errs []error
	for _, field := range []string{"apiVersion", "kind"} {
		if _, ok := patch[field]; ok {
			errs = append(errs, fmt.Errorf("it sets %s; an object's identity must stay as it is", field))
		}
	}
	metadata, set := patch["metadata"]
	fields, ok := metadata.(map[string]any)
	if set && !ok {
		errs = append(errs, errors.New("its metadata is no map"))
	}
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion"} {
		if _, ok := fields[field]; ok {
			errs = append(errs, fmt.Errorf("it sets metadata.%s; an object's identity must stay as it is", field))
		}
	}
	return errors.Join(errs...)
}

// Changes is the part of a JSON merge patch (RFC 7386) that changes the value, as a merge patch. Nil when it changes
// nothing. Numbers must be json.Number in both.
func Changes(value, patch map[string]any) map[string]any {
	changes := map[string]any{}
	for key, wanted := range patch {
		was, present := value[key]
		wantedMap, isMap := wanted.(map[string]any)
		wasMap, wasAMap := was.(map[string]any)
		switch {
		case wanted == nil:
			if present {
				changes[key] = nil
			}
		case isMap && wasAMap:
			if inner := Changes(wasMap, wantedMap); inner != nil {
				changes[key] = inner
			}
		case !present || !equal(was, wanted):
			changes[key] = wanted
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return changes
}

// Holds reports whether the object is already as a merge patch makes it.
func Holds(o Object, patch JSON) (bool, error) {
	wanted, err := o.StoredPatch(patch)
	if err != nil {
		return false, err
	}
	value, err := o.Value()
	return err == nil && Changes(value, wanted) == nil, err
}

// Unlike names the fields, as paths, that a value does not have as a merge patch sets them. Numbers must be json.Number
// in both.
func Unlike(value, patch map[string]any) []string {
	var paths []string
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		was, present := value[key]
		switch wanted := patch[key].(type) {
		case map[string]any:
			inner, _ := was.(map[string]any) // without one, the patch's own nulls ask for nothing
			for _, path := range Unlike(inner, wanted) {
				paths = append(paths, key+"."+path)
			}
		case nil:
			if present {
				paths = append(paths, key)
			}
		default:
			if !present || !equal(was, wanted) {
				paths = append(paths, key)
			}
		}
	}
	return paths
}

// equal compares JSON values. 1 and 1.0 are the same number.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a, b))
	}
	return a == b
}

func sameNumber(a, b json.Number) bool {
	// An exponent can make a number of a few bytes that is gigabytes long: those are compared as text.
	if len(a) > 64 || len(b) > 64 || slices.ContainsFunc([]byte(a+b), func(c byte) bool { return c == 'e' || c == 'E' }) {
		return false
	}
	x, okX := new(big.Rat).SetString(string(a))
	y, okY := new(big.Rat).SetString(string(b))
	return okX && okY && x.Cmp(y) == 0
}
