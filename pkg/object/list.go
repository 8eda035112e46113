// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ListMeta is what a list response says about itself.
type ListMeta struct {
	ResourceVersion string
	// Continue is the token of the next page. Empty on the last one.
	Continue string
	// Remaining is how many objects follow this page. The server leaves it out when the list is filtered.
	Remaining *int64
}

// ScanList reads one list response and hands each item's bytes to each, in the response's order. The bytes are each's to
// keep. Keys may come in any order. A response that ends early, that has no
// items or no metadata, is an error: a cut list never looks like a short one.
func ScanList(r io.Reader, each func(raw []byte) error) (ListMeta, error) {
	decoder := json.NewDecoder(r)
	if err := expect(decoder, json.Delim('{')); err != nil {
		return ListMeta{}, err
	}
	var meta *ListMeta
	hasItems := false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return ListMeta{}, cut(err)
		}
		switch key {
		case "metadata":
			meta, err = scanListMeta(decoder)
		case "items":
			hasItems = true
			err = scanItems(decoder, each)
		default:
			var skipped json.RawMessage
			err = cut(decoder.Decode(&skipped))
		}
		if err != nil {
			return ListMeta{}, err
		}
	}
	if err := expect(decoder, json.Delim('}')); err != nil {
		return ListMeta{}, err
	}
	if meta == nil || !hasItems {
		return ListMeta{}, errors.New("the response is not a list: it has no metadata or no items")
	}
	return *meta, nil
}

func scanListMeta(decoder *json.Decoder) (*ListMeta, error) {
	var m struct {
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	}
	if err := decoder.Decode(&m); err != nil {
		return nil, cut(err)
	}
	return &ListMeta{ResourceVersion: m.ResourceVersion, Continue: m.Continue, Remaining: m.RemainingItemCount}, nil
}

func scanItems(decoder *json.Decoder, each func(raw []byte) error) error {
	token, err := decoder.Token()
	switch {
	case err != nil:
		return cut(err)
	case token == nil: // "items": null is how Go servers write an empty list
		return nil
	case token != json.Delim('['):
		return fmt.Errorf("the response is not a list: items is %v", token)
	}
	for decoder.More() {
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return cut(err)
		}
		if err := each(item); err != nil {
			return err
		}
	}
	return expect(decoder, json.Delim(']'))
}

func expect(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return cut(err)
	}
	if token != want {
		return fmt.Errorf("the response is not a list: %v where %v should be", token, want)
	}
	return nil
}

// cut names the end of the input for what it is here: the response stopped in the middle.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the response ended in the middle of the list: %w", io.ErrUnexpectedEOF)
	}
	return err
}
