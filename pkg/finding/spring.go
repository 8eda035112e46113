// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// springNames are the names that a container gives a Spring application, and the names of what it reads: in a variable,
// in the options of Java, or in an argument.
func springNames(container object.JSON) (names []string) {
	if !bytes.Contains(container, []byte("spring")) && !bytes.Contains(container, []byte("SPRING")) {
		return nil
	}
	for variable := range container.Field("env").Elements() {
		name, value := variable.Field("name").Text(), variable.Field("value").Text()
		switch {
		case isSpringName(name):
			names = append(names, value)
		case name == "SPRING_APPLICATION_JSON":
			names = append(names, namesInJSON(value)...)
		default:
			names = append(names, namesInOptions(value)...)
		}
	}
	for _, field := range []string{"command", "args"} {
		for text := range container.Field(field).Elements() {
			names = append(names, namesInOptions(text.Text())...)
		}
	}
	return names
}

// sameToSpring makes a variable of a property: spring.application.name is SPRING_APPLICATION_NAME.
var sameToSpring = strings.NewReplacer(".", "_", "-", "", "[", "_", "]", "")

// isSpringName reports whether a property, or a variable for it, is the name of an application, or of a ConfigMap or a
// Secret that it reads, as SPRING_CLOUD_KUBERNETES_CONFIG_SOURCES_0_NAME.
func isSpringName(property string) bool {
	name := strings.ToUpper(sameToSpring.Replace(property))
	return name == "SPRING_APPLICATION_NAME" ||
		strings.HasPrefix(name, "SPRING_CLOUD_KUBERNETES_") && strings.HasSuffix(name, "_NAME")
}

// namesInOptions are the names in -Dspring.application.name=NAME and --spring.application.name=NAME.
func namesInOptions(text string) (names []string) {
	for _, word := range strings.Fields(text) {
		property, value, _ := strings.Cut(strings.Trim(word, `"'`), "=")
		property = strings.TrimPrefix(strings.TrimPrefix(property, "-D"), "--")
		if isSpringName(property) {
			names = append(names, strings.Trim(value, `"'`))
		}
	}
	return names
}

// namesInJSON are the names in the value of SPRING_APPLICATION_JSON. One that is no JSON has none.
func namesInJSON(text string) []string {
	var properties struct {
		Name   string `json:"spring.application.name"`
		Spring struct {
			Application struct {
				Name string `json:"name"`
			} `json:"application"`
		} `json:"spring"`
	}
	if json.Unmarshal([]byte(text), &properties) != nil {
		return nil
	}
	return []string{properties.Name, properties.Spring.Application.Name}
}
