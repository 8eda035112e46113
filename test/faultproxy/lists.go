// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Paged makes the API server answer a list in pages of so many objects, whatever the client asked for, and lets fault,
// if any, do what it does to that.
func Paged(limit int, fault Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = with(r, map[string]string{"limit": strconv.Itoa(limit)})
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		fault(w, r, next)
	}
}

// with is the request with other parameters. An empty one goes away.
func with(r *http.Request, params map[string]string) *http.Request {
	r = r.Clone(r.Context())
	query := r.URL.Query()
	for key, value := range params {
		query.Set(key, value)
		if value == "" {
			query.Del(key)
		}
	}
	r.URL.RawQuery = query.Encode()
	return r
}

// further makes a fault of the requests for a further page of a list only. token is what the request goes on with.
func further(fault func(w http.ResponseWriter, r *http.Request, next http.Handler, token string)) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		token := r.URL.Query().Get("continue")
		if token == "" {
			next.ServeHTTP(w, r)
			return
		}
		fault(w, r, next, token)
	}
}

// ExpirePage says 410 to a request for a further page.
func ExpirePage() Fault {
	return further(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ string) {
		Refuse(http.StatusGone, "Expired")(w, r, next)
	})
}

// RepeatPage answers a request for a further page with the first page.
func RepeatPage() Fault {
	return further(func(w http.ResponseWriter, r *http.Request, next http.Handler, token string) {
		next.ServeHTTP(w, with(r, map[string]string{
			"continue": "", "resourceVersion": revisionOf(token), "resourceVersionMatch": "Exact",
		}))
	})
}

// revisionOf reads the resource version of a list out of its continue token.
func revisionOf(token string) string {
	var content struct{ RV json.Number }
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || json.Unmarshal(raw, &content) != nil {
		return ""
	}
	return content.RV.String()
}

// SkipPage answers a request for a further page with the one after that.
func SkipPage() Fault {
	return further(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ string) {
		skipped := ask(r, next)
		after := listMeta(skipped)["continue"]
		if after == nil || after == "" {
			changeList(w, skipped, func(list map[string]any) { list["items"] = []any{} })
			return
		}
		next.ServeHTTP(w, with(r, map[string]string{"continue": fmt.Sprint(after)}))
	})
}

// EmptyPage answers a request for a further page with an empty last one.
func EmptyPage() Fault {
	return further(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ string) {
		changeList(w, ask(r, next), func(list map[string]any) {
			list["items"] = []any{}
			unstructured.RemoveNestedField(list, "metadata", "continue")
		})
	})
}

// OtherVersion says of a further page that it is of another resource version than the ones before it.
func OtherVersion() Fault {
	return further(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ string) {
		changeList(w, ask(r, next), func(list map[string]any) {
			_ = unstructured.SetNestedField(list, "1", "metadata", "resourceVersion")
		})
	})
}

// Stale answers a list with how it was so many revisions of the API server's store before.
func Stale(revisions int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		now := ask(r, next)
		version, _ := listMeta(now)["resourceVersion"].(string)
		revision, err := strconv.Atoi(version)
		if err != nil || r.URL.Query().Get("continue") != "" {
			send(w, now, now.Body.Bytes(), now.Body.Len())
			return
		}
		next.ServeHTTP(w, with(r, map[string]string{
			"resourceVersion": strconv.Itoa(max(1, revision-revisions)), "resourceVersionMatch": "Exact",
		}))
	}
}

// listMeta is the metadata of a list. Empty for any other answer.
func listMeta(answer *httptest.ResponseRecorder) map[string]any {
	var list struct {
		Kind     string
		Items    *json.RawMessage
		Metadata map[string]any
	}
	if json.Unmarshal(answer.Body.Bytes(), &list) != nil || list.Items == nil {
		return map[string]any{}
	}
	return list.Metadata
}

// changeList sends a list that was changed. Any other answer stays as it is.
func changeList(w http.ResponseWriter, answer *httptest.ResponseRecorder, change func(list map[string]any)) {
	body := answer.Body.Bytes()
	if len(listMeta(answer)) > 0 {
		var list map[string]any
		if err := json.Unmarshal(body, &list); err != nil {
			panic(err) //nolint:forbidigo // a mistake of the proxy
		}
		change(list)
		changed, err := json.Marshal(list)
		if err != nil {
			panic(err) //nolint:forbidigo // a mistake of the proxy
		}
		body = changed
	}
	send(w, answer, body, len(body))
}
