// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// markedRows are of what objects of every kind say of themselves, and of certificates.
func markedRows() []*row {
	return []*row{
		{
			kind:    anyKind,
			typ:     v1alpha1.FindingStuck,
			ofOwned: true,
			ofStock: true,
			look:    lookStuck,
			means:   "its deletion has not ended, because a finalizer remains or its Node does not answer: Weak after 2 minutes, Likely after 10, Certain after 30",
		},
		{
			kind:       anyKind,
			typ:        v1alpha1.FindingExpired,
			actionable: true,
			ofOwned:    true,
			look:       lookExpired,
			means: "its time has passed, by an annotation or label on the object itself, such as cleaner/ttl or cleaner/expires; Nodes, " +
				"CustomResourceDefinitions, APIServices, webhook configurations, admission policies and their bindings are only reported",
		},
		{
			kind:    secrets,
			typ:     v1alpha1.FindingCertificateExpired,
			fields:  "type=kubernetes.io/tls",
			body:    true,
			ofOwned: true,
			ofStock: true,
			means:   "it is of type kubernetes.io/tls, and its certificate is not valid any more",
			look:    lookCertificate,
		},
	}
}

// lookCertificate looks at the first certificate of a Secret, which is the one that a server shows. What is none is
// none of our business.
func lookCertificate(f *Finder, o *object.Parts) *candidate {
	text, err := base64.StdEncoding.DecodeString(o.At("data", "tls.crt").Text())
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !certificate.NotAfter.Before(f.Now) {
		return nil
	}
	return certain(
		"its certificate was valid until "+certificate.NotAfter.UTC().Format(time.RFC3339),
		certificate.NotAfter,
	)
}
