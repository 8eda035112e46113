#!/usr/bin/env bash
# Copyright The KubeCleaner Authors.
# SPDX-License-Identifier: Apache-2.0
# Builds the image of HEAD twice, in two directories, the second time without what the first one compiled. The digests must be equal.
# With npm, each build also makes the page anew, as a release does. Without, both images lack it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

command -v npm >/dev/null || echo 'Without npm, both images are built without the page.' >&2

image() { # DIRECTORY: prints the digest of the image for all platforms
  git clone -q . "$work/$1"
  ! command -v npm >/dev/null || make -C "$work/$1" page >&2
  go -C "$work/$1/hack/release" run . image -version reproduce -layout "$work/$1/bin/image" | sed 's/.*@//'
}

first=$(image one)
second=$(GOCACHE=$work/cache image a/longer/name)
echo "$first"
[[ -n $first && $first = "$second" ]] || { echo "a second build gives $second: the image is not reproducible" >&2; exit 1; }
