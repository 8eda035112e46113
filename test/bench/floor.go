// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"k8s.io/client-go/rest"
)

const (
	// floorPage is the page size that clients use by custom; all ratios are to it.
	floorPage = 500
	// wholePage is more objects than there are.
	wholePage = 1_000_000
	// headBytes is how much of a page is looked at: the list's metadata stands before its items.
	headBytes = 4096
)

// pageThrough is a client that reads all Pods as text, page by page, to the end, and does nothing with them. No client
// that sees every object can do less.
func pageThrough(limit int) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		token, pages := "", 0
		for {
			next, err := readPage(ctx, s.client, limit, token)
			if err != nil {
				return err
			}
			if token, pages = next, pages+1; token == "" {
				break
			}
		}
		if want := (s.load.Pods + limit - 1) / limit; pages != want {
			return fmt.Errorf("%d Pods came in %d pages of %d, want %d", s.load.Pods, pages, limit, want)
		}
		return nil
	}
}

func readPage(ctx context.Context, client rest.Interface, limit int, token string) (next string, err error) {
	request := client.Get().AbsPath("/api/v1/pods").Param("limit", strconv.Itoa(limit))
	if token != "" {
		request = request.Param("continue", token)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(body, head)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	metadata, _, _ := bytes.Cut(head[:n], []byte(`"items"`))
	_, rest, found := bytes.Cut(metadata, []byte(`"continue":"`))
	if !found {
		return "", err
	}
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value), err
}
