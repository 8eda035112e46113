// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsAbsent reports whether the API server said that there is no object of the name. Any other 404 speaks of something
// else: a version that is not served any more, a server that is not the right one, a webhook.
func IsAbsent(err error, name string) bool {
	details, found := absence(err)
	return found && details.Name == name && !isPage(details)
}

// IsKindAbsent reports whether the server does not know the path that it was asked for: its answer names no object.
func IsKindAbsent(err error) bool {
	details, found := absence(err)
	return found && (details.Name == "" || isPage(details))
}

func absence(err error) (details metav1.StatusDetails, found bool) {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return details, false
	}
	if said := status.Status().Details; said != nil {
		details = *said
	}
	return details, true
}

// isPage reports whether the answer was not a Status: client-go makes one of it, with the name that it asked for.
func isPage(details metav1.StatusDetails) bool {
	return slices.ContainsFunc(
		details.Causes,
		func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse },
	)
}

// IsUnclear reports whether the server may have done what it was asked although it did not say so.
func IsUnclear(err error) bool {
	var status apierrors.APIStatus
	return err != nil && (!errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError)
}

// WithoutBody leaves the object out of a server's message about a change: it may quote the whole of it, which may be a
// Secret.
func WithoutBody(message string) string {
	start := strings.Index(message, `Invalid value: "{`)
	end := strings.LastIndex(message, `}": `)
	if start < 0 || end < start {
		return message
	}
	return message[:start] + "Invalid value: " + message[end+len(`}": `):]
}

// MayPass reports whether an error says something of the API server, or of the way to it, and nothing of what was asked
// for: the same request may succeed later.
func MayPass(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	var way *url.Error
	return errors.As(err, &way) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
