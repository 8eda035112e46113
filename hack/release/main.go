// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release builds the images of KubeCleaner and everything else that a release consists of. It is a module of
// its own, so that the operator depends on nothing that only a release needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `usage:
  release image   build the image as an OCI layout, as an archive that docker load reads, or both
  release all     build all files of a release and, without -dry, push the image and the chart
  release version write a version wherever the repository names that of the newest release

release COMMAND -h lists the flags.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, usage)
		return errors.New("name a command: image, all or version")
	}
	switch args[0] {
	case "image":
		return imageCommand(ctx, args[1:])
	case "all":
		return releaseCommand(ctx, args[1:])
	case "version":
		return versionCommand(args[1:])
	}
	fmt.Fprintln(os.Stderr, usage)
	return fmt.Errorf("there is no command %q: use image, all or version", args[0])
}

// parseTargets reads a list such as linux/amd64,linux/arm64.
func parseTargets(list string) ([]target, error) {
	var targets []target
	for one := range strings.SplitSeq(list, ",") {
		os, arch, ok := strings.Cut(one, "/")
		if !ok || os == "" || arch == "" || strings.Contains(arch, "/") {
			return nil, fmt.Errorf("%q is not a platform: write OS/ARCH, for example linux/amd64", one)
		}
		targets = withTarget(targets, target{os, arch})
	}
	return targets, nil
}
