// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import "time"

// Activities are what people did, the latest first.
type Activities struct {
	Page[Activity]
	// Missing are the rights without which some of it is not there.
	Missing []Right `json:"missing"`
}

// Activity is one thing that a person did.
type Activity struct {
	Time time.Time `json:"time"`
	// By is the person. Empty when that is not known.
	By string `json:"by,omitempty"`
	// Text stands behind the name: "suspended Cleaner x".
	Text string `json:"text"`
	// Run is the run that it is about, or that came of it. Empty when it is about no run, or that is not known.
	Run string `json:"run,omitempty"`
}
