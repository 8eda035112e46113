#!/usr/bin/env bash
# compat.sh 1.33.13 builds the control plane of that version of Kubernetes and prints the directory that holds it, as build.sh does.
#
# The module to build from is generated in the user's cache. Its versions are those of the release: k8s.io/kubernetes replaces each of its
# staging modules by a directory of its own, which here is the published module. etcd is the one that the release's go.mod requires.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=${1#v}
[[ $version =~ ^1\.[0-9]+\.[0-9]+$ ]] || { echo "usage: compat.sh VERSION, for example 1.33.13" >&2; exit 2; }
module=${KUBECLEANER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kubecleaner}/compat/$version

# generate DIR: a go.mod and its go.sum
generate() {
  local upstream
  upstream=$(cd / && GOFLAGS=-mod=mod go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')
  [[ -n $upstream ]] || { echo "k8s.io/kubernetes v$version cannot be downloaded: go list -m -versions k8s.io/kubernetes lists the versions that exist" >&2; return 1; }
  {
    printf 'module github.com/kubecleaner/kubecleaner/test/controlplane\n\n'
    sed -n '/^go 1/p;/^godebug /p' "$upstream"
    sed -n '/^tool (/,/^)/p' "$here/go.mod"
    echo "require k8s.io/kubernetes v$version"
    sed -nE "s|^\t(k8s.io/[a-z-]+) => \./staging/.*|replace \1 => \1 v0${version#1}|p" "$upstream"
  } >"$1/go.mod"
  (cd "$1" && go mod tidy >&2)
}

if [[ ! -e $module/go.sum ]]; then
  new=$module.new.$$
  trap 'rm -rf "$new"' EXIT
  mkdir -p "$new"
  generate "$new"
  rm -rf "$module"
  mv "$new" "$module"
  trap - EXIT
fi
exec env -u KUBEBUILDER_ASSETS CONTROLPLANE_MODULE="$module" "$here/build.sh"
