// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

// secretOf is what the Secret of the bucket "copies" of an S3 server holds.
func secretOf(url string) map[string][]byte {
	return map[string][]byte{
		keyEndpoint: []byte(strings.TrimPrefix(url, "http://")), keyBucket: []byte("copies"), keyPrefix: []byte("/cluster-1/"),
		keyAccessKey: []byte("the-access-key"), keySecretKey: []byte("the-secret-key\n"), keyInsecure: []byte("true"),
	}
}

func TestPartsInS3(t *testing.T) {
	server := servers.StartS3(t, "copies")
	b, err := newBucket(secretOf(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	run := runAt(1)
	run.Name = "nightly-1"
	key := b.key(run, "abcde", 3)
	if want := "cluster-1/nightly-1/abcde/copies-3"; key != want {
		t.Fatalf("the key is %s, want %s", key, want)
	}
	part := bytes.Repeat([]byte("0123456789"), maxPartBytes/10)
	if err := b.put(t.Context(), key, part); err != nil {
		t.Fatal(err)
	}
	if stored := server.Objects(t); len(stored) != 1 || stored[key] != string(part) {
		t.Fatalf("the server has %d objects, and %d bytes with this key", len(stored), len(stored[key]))
	}
	if got, err := b.get(t.Context(), key); err != nil || !bytes.Equal(got, part) {
		t.Fatalf("read %d bytes, %v", len(got), err)
	}
	for range 2 { // the second time, it is not there any more
		if err := b.remove(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.get(t.Context(), key); err == nil || !strings.Contains(err.Error(), "reading s3://copies/"+key) {
		t.Fatalf("a part that is not there: %v", err)
	}
	if err := b.put(t.Context(), key, append(part, part...)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.get(t.Context(), key); err == nil || !strings.Contains(err.Error(), "it is larger than a part of copies") {
		t.Fatalf("a part that is too large: %v", err)
	}
}

func TestSecretOfTheBucket(t *testing.T) {
	for name, c := range map[string]struct {
		key, value, want string
	}{
		"endpoint missing":    {keyEndpoint, "", "the key endpoint is missing or empty"},
		"bucket missing":      {keyBucket, " ", "the key bucket is missing or empty"},
		"access key missing":  {keyAccessKey, "", "the key accessKey is missing or empty"},
		"secret key missing":  {keySecretKey, "", "the key secretKey is missing or empty"},
		"endpoint a URL":      {keyEndpoint, "https://user:hunter2@s3", "the key endpoint must be a host, or a host and a port: s3.example.com:9000, without https://"},
		"endpoint not a host": {keyEndpoint, "hunter2 hunter2", "the key endpoint must be a host, or a host and a port: s3.example.com:9000"},
		"insecure":            {keyInsecure, "hunter2", "the key insecure must be true, for HTTP without TLS, or false"},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{
				keyEndpoint: []byte("s3.example.com"), keyBucket: []byte("copies"), keyAccessKey: []byte("a"), keySecretKey: []byte("s"),
			}
			if _, err := newBucket(data); err != nil {
				t.Fatal(err)
			}
			data[c.key] = []byte(c.value)
			if _, err := newBucket(data); err == nil || err.Error() != c.want {
				t.Fatalf("it says %v, want %s", err, c.want)
			}
		})
	}
	if _, err := newBucket(nil); err == nil || strings.Count(err.Error(), "is missing or empty") != 4 {
		t.Fatalf("of an empty Secret it says %v", err)
	}
}

// What an S3 server answers may hold the credentials.
func TestErrorsOfS3HoldNoCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`<Error><Code>AccessDenied</Code><Message>the-access-key with the-secret-key may not</Message></Error>`))
	}))
	t.Cleanup(server.Close)
	b, err := newBucket(secretOf(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.put(t.Context(), "k", nil); err == nil || err.Error() != "writing s3://copies/k: ****** with ****** may not" {
		t.Fatalf("it says %v", err)
	}
}

// A server that does not answer holds a run up for no longer than the limit on a request.
func TestS3ThatHangs(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	defer close(release)
	b, err := newBucket(secretOf(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if b.timeout != 10*time.Second {
		t.Fatalf("a request may take %s", b.timeout)
	}
	b.timeout = 100 * time.Millisecond
	if err := b.put(t.Context(), "k", []byte("x")); err == nil || !strings.Contains(err.Error(), "writing s3://copies/k: ") || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Fatalf("it says %v", err)
	}
}
