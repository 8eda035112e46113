// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// Bucket is a bucket of an S3 server that lets everybody read and write.
type Bucket struct {
	// URL is that of the server.
	URL  string
	name string
}

// StartS3 starts an S3 server with an empty bucket until the test ends.
func StartS3(t *testing.T, name string) *Bucket {
	t.Helper()
	b := &Bucket{URL: "http://" + start(t, "s3", nil), name: name}
	b.Create(t)
	return b
}

// Create creates the bucket again.
func (b *Bucket) Create(t *testing.T) { t.Helper(); b.do(t, http.MethodPut, "") }

// Delete deletes the bucket, which must be empty.
func (b *Bucket) Delete(t *testing.T) { t.Helper(); b.do(t, http.MethodDelete, "") }

// Objects are what is in the bucket, by key.
func (b *Bucket) Objects(t *testing.T) map[string]string {
	t.Helper()
	var list struct {
		IsTruncated bool
		Contents    []struct{ Key string }
	}
	must(t, xml.Unmarshal(b.do(t, http.MethodGet, "?list-type=2"), &list))
	if list.IsTruncated {
		t.Fatal("there are more objects than one list has")
	}
	objects := map[string]string{}
	for _, object := range list.Contents {
		objects[object.Key] = string(b.do(t, http.MethodGet, "/"+object.Key))
	}
	return objects
}

// do makes a request without signing it, and returns the answer.
func (b *Bucket) do(t *testing.T, method, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.URL+"/"+b.name+path, nil)
	must(t, err)
	request.Close = true // leaves no connection behind
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode >= 300 {
		must(t, fmt.Errorf("%s %s: %s\n%s", method, path, response.Status, body))
	}
	return body
}
