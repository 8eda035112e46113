// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
)

// imageOptions say what to build, and where to write it.
type imageOptions struct {
	root, ref, version string
	// layout is a directory, and archive a file. One of them may be empty.
	layout, archive string
	platforms       []target
}

func imageCommand(ctx context.Context, args []string) error {
	o, err := parseImageFlags(args)
	if err != nil {
		return err
	}
	src, err := readSource(ctx, o.root, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	local := target{"linux", runtime.GOARCH}
	if o.archive != "" {
		o.platforms = withTarget(o.platforms, local)
	}
	built, err := buildImage(ctx, o.root, o.version, src, o.platforms)
	if err != nil {
		return err
	}
	if o.archive != "" {
		if err := writeArchive(o.archive, o.ref, built.platforms[local].image); err != nil {
			return err
		}
	}
	if o.layout == "" {
		return nil
	}
	if err := writeLayout(o.layout, o.ref, built); err != nil {
		return err
	}
	digest, err := built.index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("%s@%s\n", o.ref, digest)
	return nil
}

func parseImageFlags(args []string) (imageOptions, error) {
	var o imageOptions
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", "../..", "the directory of the Dockerfile")
	flags.StringVar(&o.ref, "ref", "ghcr.io/kubecleaner/manager:dev", "the name and tag of the image")
	flags.StringVar(&o.version, "version", "dev", "the version that the programs print")
	flags.StringVar(&o.layout, "layout", "", "the directory to write an OCI layout of all platforms to")
	flags.StringVar(
		&o.archive,
		"archive",
		"",
		"the file to write the image of this machine's architecture to, as docker save does",
	)
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "the platforms of the OCI layout")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.layout == "" && o.archive == "" {
		return o, errors.New("set -layout, -archive or both: there is nothing to write")
	}
	if o.layout == "" {
		return o, nil
	}
	var err error
	o.platforms, err = parseTargets(*platforms)
	return o, err
}
