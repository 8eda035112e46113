// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Command servers is a mail server or an S3 server on loopback, for tests. It reads its settings from standard input as
// JSON, prints its address, and ends when standard input does, so it never outlives the test that started it.
// test/testenv/servers is its client, and has the same types.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return errors.New("usage: servers mail|s3")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	settings := json.NewDecoder(os.Stdin)
	failed := make(chan error, 1)
	switch os.Args[1] {
	case "mail":
		var box mailbox
		if err := settings.Decode(&box); err != nil {
			return fmt.Errorf("reading the settings: %w", err)
		}
		go func() { failed <- box.serve(listener) }()
	case "s3":
		go func() { failed <- serveS3(listener) }()
	default:
		return fmt.Errorf("there is no server %q", os.Args[1])
	}
	fmt.Println(listener.Addr())
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		failed <- err
	}()
	return <-failed
}

// serveS3 keeps buckets in memory and lets everybody read and write them.
func serveS3(listener net.Listener) error {
	return (&http.Server{Handler: gofakes3.New(s3mem.New()).Server()}).Serve(listener)
}
