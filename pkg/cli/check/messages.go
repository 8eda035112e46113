// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// reword makes a problem of what the API server's validation says, in words for people.
func (s *crdSchema) reword(d *manifest.Document, err *field.Error) manifest.Problem {
	code, path := codes.FieldValue, err.Field
	var message, hint string
	switch err.Type {
	case field.ErrorTypeRequired:
		code, message, hint = codes.FieldMissing, "is missing", s.firstSentence(path)
	case field.ErrorTypeTypeInvalid:
		code = codes.FieldType
		message, hint = typeWords(err.Detail)
		if seconds := secondsHint(path, valueAt(d, path)); seconds != "" {
			hint = seconds
		}
	case field.ErrorTypeNotSupported:
		message, hint = s.notSupported(path, err.BadValue)
	case field.ErrorTypeDuplicate:
		message, hint = duplicateWords(err.BadValue), "give each one a name of its own"
	case field.ErrorTypeInvalid:
		if s.messages[err.Detail] {
			code, path, message, hint = ruleWords(d, path, err.Detail)
			break
		}
		path, message = valueWords(path, err)
	default:
		message = err.ErrorBody()
	}
	return d.At(path, code, message, hint)
}

// valueAt is a field's text in the file.
func valueAt(d *manifest.Document, path string) string {
	if _, node := d.Find(path); node != nil {
		return node.Value
	}
	return ""
}

// ruleWords splits the message of a rule of the CustomResourceDefinition, "logSource is for Pods only ...; ...", into
// the field that it begins with, if the document has it, what is wrong with it, and the way out.
func ruleWords(d *manifest.Document, path, detail string) (code codes.Code, at, message, hint string) {
	code = codes.FieldRule
	message, hint, _ = strings.Cut(detail, "; ")
	first, rest, _ := strings.Cut(message, " ")
	if _, node := d.Find(path); node != nil {
		if key, _ := manifest.Child(node, first); key != nil {
			path = manifest.Join(path, first)
		}
	}
	if strings.HasSuffix(path, "."+first) && (strings.HasPrefix(rest, "must ") || strings.HasPrefix(rest, "is ")) {
		message = rest
	}
	return code, path, message, hint
}

// firstSentence of a field's description.
func (s *crdSchema) firstSentence(path string) string {
	node := s.node(path)
	if node == nil {
		return ""
	}
	return strings.TrimSuffix(
		regexp.MustCompile(`\.\s+[A-Z]|; `).Split(strings.ReplaceAll(node.Description, "\n", " "), 2)[0],
		".",
	)
}

// typeWords rewords `spec.suspend in body must be of type boolean: "string"`.
func typeWords(detail string) (message, hint string) {
	found := regexp.MustCompile(`must be of type (\w+)(?:, \w+)*: "(\w+)"`).FindStringSubmatch(detail)
	if found == nil {
		return detail, ""
	}
	wanted, got := found[1], found[2]
	return fmt.Sprintf("must be %s, not %s", article(wanted), article(got)), typeHint(wanted, got)
}

// typeHint says how to make a value the type that is wanted.
func typeHint(wanted, got string) string {
	switch {
	case got == "null":
		return "write a value after the colon, or remove the field"
	case wanted == "string" && got != "object" && got != "array":
		return "put it in quotes"
	case got == "string" && wanted != "array" && wanted != "object":
		return "write it without quotes"
	case wanted == "array":
		return `begin each entry with "- "`
	case wanted == "object" && got == "array":
		return `write its fields without "- "`
	}
	return ""
}

// article is a type as people call it.
func article(typeName string) string {
	switch typeName {
	case "boolean", "bool":
		return "true or false"
	case "string":
		return "a text"
	case "integer", "int32", "int64":
		return "a whole number"
	case "float", "float64":
		return "a number with a fraction"
	case "array":
		return "a list"
	case "object", "map[string]string":
		return "a map of fields"
	case "null":
		return "nothing"
	}
	return "a " + typeName
}

// WrongTypeWords rewords what the decoder of JSON says of a field, such as metadata.labels.
func WrongTypeWords(err *json.UnmarshalTypeError) (message, hint string) {
	wanted := err.Type.String()
	switch err.Type.Kind() {
	case reflect.Slice, reflect.Array:
		wanted = "array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		wanted = "object"
	}
	message = "must be " + article(wanted) + ", not " + article(err.Value)
	if err.Type.Kind() == reflect.String &&
		(strings.HasSuffix(err.Field, "labels") || strings.HasSuffix(err.Field, "annotations")) {
		message = "a value in it " + message
	}
	if err.Type.Kind() == reflect.String && (err.Value == "number" || err.Value == "bool") {
		hint = "put it in quotes"
	}
	return message, hint
}

// notSupported says which values there are.
func (s *crdSchema) notSupported(path string, bad any) (message, hint string) {
	var allowed []string
	if node := s.node(path); node != nil && node.ValueValidation != nil {
		for _, value := range node.ValueValidation.Enum {
			allowed = append(allowed, fmt.Sprint(value.Object))
		}
	}
	message = fmt.Sprintf("%q is not one of %s", fmt.Sprint(bad), strings.Join(allowed, ", "))
	if near := suggest.Nearest(fmt.Sprint(bad), allowed); near != "" {
		return message + "; did you mean " + terminal.Quoted(near) + "?", ""
	}
	if strings.HasSuffix(path, ".type") && strings.HasPrefix(path, "spec.notifications") {
		hint = "this version has no other types; remove the notification, or read the CleanerRuns"
	}
	return message, hint
}

func duplicateWords(bad any) string {
	if fields, ok := bad.(map[string]any); ok {
		for _, value := range fields {
			bad = value
		}
	}
	return fmt.Sprintf("%q is in the list twice", fmt.Sprint(bad))
}

// valueWords rewords `spec.x in body should be greater than or equal to 1`.
func valueWords(path string, err *field.Error) (at, message string) {
	if found := regexp.MustCompile(`must be of type integer with format int(32|64) in (\S+)$`).
		FindStringSubmatch(err.Detail); found != nil {
		return found[2], "must be a whole number of " + found[1] + " bits"
	}
	_, rule, found := strings.Cut(err.Detail, " in body ")
	switch {
	case !found:
		rule = err.Detail
	case err.BadValue == "":
		return path, "is empty"
	case strings.HasPrefix(rule, "should have at least"):
		return path, fmt.Sprintf("has %v entries, and needs at least 1", err.BadValue)
	}
	return path, fmt.Sprintf("%v %s", err.BadValue, strings.Replace(rule, "should be", "is not allowed: it must be", 1))
}
