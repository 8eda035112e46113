// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
)

// parts are those of a multipart form.
func parts(got received, each func(part *multipart.Part, content []byte)) {
	_, parameters, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil {
		return
	}
	reader := multipart.NewReader(bytes.NewReader(got.body), parameters["boundary"])
	for {
		part, err := reader.NextPart()
		if err != nil {
			return
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return
		}
		each(part, content)
	}
}

func fieldsIn(got received) map[string]string {
	fields := map[string]string{}
	parts(got, func(part *multipart.Part, content []byte) {
		if part.FileName() == "" {
			fields[part.FormName()] = string(content)
		}
	})
	return fields
}

func fileIn(got received) (name string, file []byte) {
	parts(got, func(part *multipart.Part, content []byte) {
		if part.FileName() != "" {
			name, file = part.FileName(), content
		}
	})
	return name, file
}
