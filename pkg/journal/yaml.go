// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// encodeFile is an object as it stands in a file: YAML, with apiVersion and kind, and without resourceVersion, as
// k8s-cleaner wrote it, and without managedFields. What YAML would not give back exactly is written as JSON, which is
// YAML too.
func encodeFile(o object.Object) ([]byte, error) {
	o.Raw = object.AppendWithoutManagedFields(nil, o.Raw)
	value, err := o.Value()
	if err != nil {
		return nil, err
	}
	if metadata, ok := value["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
	}
	var buffer bytes.Buffer
	encoder := yaml.NewEncoder(&buffer)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(yamlValue(value)), encoder.Close()); err == nil {
		if back, err := decodeFile(buffer.Bytes()); err == nil && reflect.DeepEqual(back, value) {
			return buffer.Bytes(), nil
		}
	}
	return encodeJSON(value, "  ")
}

// encodeJSON keeps characters as they are that json.Marshal would escape.
func encodeJSON(value any, indent string) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

// decodeFile reads what encodeFile wrote.
func decodeFile(data []byte) (map[string]any, error) {
	var value any
	if bytes.HasPrefix(data, []byte("{")) {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
	} else {
		var document yaml.Node
		if err := yaml.Unmarshal(data, &document); err != nil {
			return nil, err
		}
		if len(document.Content) != 1 {
			return nil, errors.New("it is not one YAML document")
		}
		var err error
		if value, err = jsonValue(document.Content[0]); err != nil {
			return nil, err
		}
	}
	content, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it is not a map")
	}
	return content, nil
}

// number keeps the exact text of a number in YAML.
type number json.Number

// MarshalYAML implements yaml.Marshaler.
func (n number) MarshalYAML() (any, error) {
	tag := "!!int"
	if strings.ContainsAny(string(n), ".eE") {
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(n)}, nil
}

// yamlValue is a decoded JSON value with numbers that YAML keeps.
func yamlValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			out[key] = yamlValue(inner)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			out[i] = yamlValue(inner)
		}
		return out
	case json.Number:
		return number(value)
	}
	return value
}

// jsonValue is the opposite of yamlValue.
func jsonValue(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			inner, err := jsonValue(node.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[node.Content[i].Value] = inner
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, len(node.Content))
		for i, inner := range node.Content {
			var err error
			if out[i], err = jsonValue(inner); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.ScalarNode:
		return jsonScalar(node)
	}
	return nil, fmt.Errorf("line %d: only maps, lists and scalars are expected", node.Line)
}

func jsonScalar(node *yaml.Node) (any, error) {
	switch tag := node.ShortTag(); {
	case tag == "!!str":
		return node.Value, nil
	case tag == "!!null":
		return nil, nil
	case tag == "!!bool" && (node.Value == "true" || node.Value == "false"):
		return node.Value == "true", nil
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(node.Value)):
		return json.Number(node.Value), nil
	}
	return nil, fmt.Errorf("line %d: a scalar of an unexpected kind", node.Line)
}
