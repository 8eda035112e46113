// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver knows how a request to an API server must be, and what its answer says: lists as streams, and
// errors. It reads what needs the Go types of Kubernetes.
package apiserver

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxItem is how many bytes of one item, or of any other part of a list response, are read. etcd stores 1.5 MB at the
// most by default.
const maxItem = 8 << 20

// maxQuoted is how much of a server's message is quoted.
const maxQuoted = 512

// ListMeta is what a list response says about itself.
type ListMeta struct {
	ResourceVersion string
	// Continue is the token of the next page. Empty on the last one.
	Continue string
	// Remaining is how many objects follow this page. The server leaves it out when the list is filtered.
	Remaining *int64
}

// ScanList reads one list response to its end and hands each item's exact bytes to each, in the response's order, while
// the response comes in. The bytes are well-formed JSON. They are valid only until each returns, and each must not
// change them: memory is bounded by the largest item, not by the response. Keys may come in any order; kind and
// apiVersion are ignored.
//
// A response that is not one whole list is an error, even if only its last byte is missing (io.ErrUnexpectedEOF) or one
// byte too many follows: a cut list never looks like a short one. So is an item of more than 8 MiB, and text that is
// not UTF-8. Errors of r and of each are returned, wrapped or as they are; those of r are io.ErrUnexpectedEOF as well.
func ScanList(r io.Reader, each func(raw []byte) error) (ListMeta, error) {
	source := &boundedReader{r: r}
	// Names need not be unique inside items: whoever reads an item takes the last of two.
	s := listScan{source: source, decoder: jsontext.NewDecoder(source, jsontext.AllowDuplicateNames(true)), each: each}
	if err := s.response(); err != nil {
		return ListMeta{}, err
	}
	return *s.meta, nil
}

type listScan struct {
	source        *boundedReader
	decoder       *jsontext.Decoder
	each          func(raw []byte) error
	meta          *ListMeta
	items         bool
	kind, message string // of a Status, which servers send in place of what was asked for
}

func (s *listScan) response() error {
	if t := typeOf(s.peek()); t != object.Map && t != object.Absent {
		return fmt.Errorf("the response is not a list: it is %s, not a map", t)
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return s.fault(err)
	}
	for s.peek() != '}' {
		name, err := s.decoder.ReadToken()
		if err != nil {
			return s.fault(err)
		}
		if err := s.field(name.String()); err != nil {
			return err
		}
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return s.fault(err)
	}
	if err := s.end(); err != nil {
		return err
	}
	return s.check()
}

// check says why what was read is not a list.
func (s *listScan) check() error {
	switch {
	case s.meta != nil && s.items:
		return nil
	case s.kind == "Status":
		return fmt.Errorf("the server sent a Status in place of the list: %.*q", maxQuoted, s.message)
	}
	return errors.New("the response is not a list: it has no metadata or no items")
}

// end reads to the end of the input, without which the connection could not be used again.
func (s *listScan) end() error {
	s.peek()
	switch _, err := s.decoder.ReadToken(); {
	case err == nil:
		return errors.New("the response goes on after the end of the list")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("after the end of the list: %w", s.fault(err))
	}
	return nil
}

func (s *listScan) field(name string) error {
	switch {
	case name == "metadata" && s.meta == nil:
		return s.metadata()
	case name == "items" && !s.items:
		return s.list()
	case name == "metadata", name == "items":
		return fmt.Errorf("the response is not a list: it has %s twice", name)
	case name == "kind":
		return s.text(&s.kind)
	case name == "message":
		return s.text(&s.message)
	}
	s.peek()
	if err := s.decoder.SkipValue(); err != nil {
		return s.fault(err)
	}
	return nil
}

func (s *listScan) text(to *string) error {
	raw, err := s.value()
	*to = raw.Text()
	return err
}

func (s *listScan) metadata() error {
	raw, err := s.value()
	if err != nil {
		return err
	}
	if raw.Type() != object.Map {
		return fmt.Errorf("the response is not a list: its metadata is %s", raw.Type())
	}
	s.meta = &ListMeta{}
	var t object.Typed
	s.meta.ResourceVersion = t.Text("resourceVersion", raw.Field("resourceVersion"))
	s.meta.Continue = t.Text("continue", raw.Field("continue"))
	s.meta.Remaining = t.Integer("remainingItemCount", raw.Field("remainingItemCount"))
	if t.Err != nil {
		return fmt.Errorf("the response is not a list: in its metadata, %w", t.Err)
	}
	return nil
}

func (s *listScan) list() error {
	s.items = true
	t := typeOf(s.peek())
	if t != object.List && t != object.Null && t != object.Absent {
		return fmt.Errorf("the response is not a list: its items are %s", t)
	}
	// "items": null is how Go servers write an empty list
	if _, err := s.decoder.ReadToken(); err != nil || t == object.Null {
		return s.fault(err)
	}
	for n := 1; s.peek() != ']'; n++ {
		if t := typeOf(s.peek()); t != object.Map && t != object.Absent {
			return fmt.Errorf("the response is not a list of objects: item %d is %s", n, t)
		}
		raw, err := s.value()
		if err != nil {
			return fmt.Errorf("item %d: %w", n, err)
		}
		if err := s.each(raw); err != nil {
			return err
		}
	}
	_, err := s.decoder.ReadToken()
	return s.fault(err)
}

// peek says what comes next. When that is nothing good, reading it says why.
func (s *listScan) peek() jsontext.Kind {
	s.source.limit = s.decoder.InputOffset() + maxItem
	return s.decoder.PeekKind()
}

// typeOf is Absent for what begins no value.
func typeOf(kind jsontext.Kind) object.Type {
	switch kind {
	case 'n', 't', 'f', '"', '0', '{', '[':
		return object.JSON{byte(kind)}.Type()
	}
	return object.Absent
}

func (s *listScan) value() (object.JSON, error) {
	s.peek()
	raw, err := s.decoder.ReadValue()
	return object.JSON(raw), s.fault(err)
}

// fault says what an error of the decoder means here.
func (s *listScan) fault(err error) error {
	switch failed := s.source.failed; {
	case err == nil:
		return nil
	case errors.Is(failed, errTooLarge):
		return failed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the response ended in the middle of the list: %w", io.ErrUnexpectedEOF)
	case failed != nil && !errors.Is(failed, io.EOF):
		return fmt.Errorf("the response broke off: %w", brokenOff{failed})
	}
	return fmt.Errorf("the response is not well-formed JSON: %w", err)
}

// brokenOff is how a connection says that it broke. HTTP/1.1 and HTTP/2, and each kind of network, have words of their
// own for it.
type brokenOff struct{ error }

// Unwrap gives the connection's own words.
func (b brokenOff) Unwrap() error { return b.error }

// Is makes all of them alike.
func (brokenOff) Is(target error) bool { return target == io.ErrUnexpectedEOF }
