// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// minSecret is the length in bytes of the shortest value that is masked: a shorter one stands in any text by chance.
const minSecret = 6

// Mask takes the values of a Secret, as they stand in it and decoded, out of a text that a script or a server made of it. The
// text about any other object stays as it is.
func Mask(text string, objects ...Object) string {
	for _, o := range objects {
		if o.Kind.Group != "" || o.Kind.Kind != "Secret" || text == "" {
			continue
		}
		var secret struct {
			Data map[string]string `json:"data"`
		}
		if json.Unmarshal(o.Raw, &secret) != nil {
			return "(left out: the Secret cannot be read)"
		}
		for _, encoded := range secret.Data {
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			for _, value := range []string{encoded, strings.TrimRight(encoded, "="), string(decoded), strings.TrimSpace(string(decoded))} {
				if err == nil && len(value) >= minSecret {
					text = strings.ReplaceAll(text, value, "******")
				}
			}
		}
	}
	return text
}
