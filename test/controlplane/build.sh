#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager and kubectl from the module next to this script and prints the
# directory that holds them (progress goes to stderr). A second call takes well under a second.
#
#   KUBEBUILDER_ASSETS=DIR   what is already there is used, only the rest is built
#   KUBECLEANER_CACHE=DIR    where to keep the result (default: ${XDG_CACHE_HOME:-$HOME/.cache}/kubecleaner)
#   CONTROLPLANE_MODULE=DIR  the module to build from instead: compat.sh makes one for another version of Kubernetes
#   build.sh --lookup        builds nothing: prints the directory, or fails if it is not complete
#
# How to bump is said at the top of go.mod. The version stamp and the name of the directory follow go.mod, so an old build
# is never mistaken for a new one.
set -euo pipefail

module=${CONTROLPLANE_MODULE:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
cache=${KUBECLEANER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kubecleaner}/controlplane
assets=${KUBEBUILDER_ASSETS:-}
binaries=(etcd kube-apiserver kube-controller-manager kubectl)

say() { echo "$*" >&2; }

# complete DIR: are all four there?
complete() {
  local b
  for b in "${binaries[@]}"; do [[ -x $1/$b ]] || return 1; done
}

package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    *) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

# ldflags NAME: the same for everyone who builds from this module, so that Go's build cache is shared.
ldflags() {
  [[ $1 != etcd ]] || { echo "-s -w"; return; }
  local version var=k8s.io/component-base/version
  version=$(cd "$module" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  local minor=${version#v1.}
  echo "-s -w -X $var.gitVersion=$version -X $var.gitMajor=1 -X $var.gitMinor=${minor%%.*} -X $var.gitTreeState=clean"
}

# still NAME: a sign of life every 30 seconds
still() {
  local t=0 nap=
  trap 'kill $nap 2>/dev/null; exit' INT TERM
  while :; do
    sleep 30 2>/dev/null & nap=$!
    wait $nap
    t=$((t + 30)); say "      still building $1 (${t}s)"
  done
}

build() { # NAME DIR
  local flags rc=0
  flags=$(ldflags "$1")
  still "$1" >/dev/null 9>&- & heartbeat=$! # it must not keep the lock or the caller's pipe
  (cd "$module" && CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$2/$1" "$(package "$1")") || rc=$?
  kill "$heartbeat" 2>/dev/null; wait "$heartbeat" 2>/dev/null || true
  heartbeat=
  return $rc
}

# fill DIR: the four binaries, each tried once
fill() {
  local b i=0 start hint=" (first time: about 8 minutes in all)"
  for b in "${binaries[@]}"; do
    i=$((i + 1)) start=$SECONDS
    if [[ -n $assets && -x $assets/$b ]]; then
      ln -s "$(cd "$assets" && pwd)/$b" "$1/$b"
      say "[$i/4] $b taken from KUBEBUILDER_ASSETS"
    else
      say "[$i/4] building $b$hint..."
      hint=
      build "$b" "$1"
      say "[$i/4] $b built in $((SECONDS - start))s"
    fi
    runs "$1/$b" || { say "$1/$b does not run"; return 1; }
  done
}

runs() {
  case $1 in
    */kubectl) "$1" version --client >/dev/null ;;
    *) "$1" --version >/dev/null ;;
  esac
}

main() {
  if [[ -n $assets ]] && complete "$assets"; then
    (cd "$assets" && pwd)
    return
  fi
  local key
  key=$( (cat "$module/go.mod"; go env GOOS GOARCH) | git hash-object --stdin | cut -c1-16)
  if [[ -n $assets ]] && compgen -G "$assets/kube*" >/dev/null || [[ -n $assets && -x $assets/etcd ]]; then
    key+=-$(git hash-object --stdin <<<"$assets" | cut -c1-8) # a mix must not be taken for our own build
  fi
  local dir=$cache/$key
  if [[ ${1:-} = --lookup ]]; then
    complete "$dir" || { say "the control plane is not built yet"; return 1; }
    echo "$dir"
    return
  fi
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  if ! complete "$dir"; then
    if command -v flock >/dev/null; then
      flock -n 9 || { say "waiting for another build of the control plane..."; flock 9; }
    fi
  fi
  if ! complete "$dir"; then # nobody else did it while we waited
    tmp=$(mktemp -d "$cache/.new.XXXXXX")
    chmod 755 "$tmp"
    fill "$tmp"
    rm -rf "$dir"
    mv "$tmp" "$dir"
    tmp=
    say "control plane ready in ${SECONDS}s"
  fi
  echo "$dir"
}

tmp='' heartbeat=''
trap '[[ -z $heartbeat ]] || kill "$heartbeat" 2>/dev/null || true; [[ -z $tmp ]] || rm -rf "$tmp"' EXIT
main "$@"
