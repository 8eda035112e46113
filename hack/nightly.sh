#!/usr/bin/env bash
# Copyright The KubeCleaner Authors.
# SPDX-License-Identifier: Apache-2.0
# What takes too long for each change: hours of random tests with fresh seeds, older versions of Kubernetes, the page in a browser, and
# releases. A failed step does not end it. The last lines say how long each step took, and which failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
exec </dev/null
export SEED=${SEED:-$(date +%s)}

summary='' failed=0
step() { # NAME COMMAND...
  local name=$1 start=$SECONDS result=ok
  shift
  printf '\n=== %s\n' "$name"
  "$@" || { result=FAILED; failed=1; }
  printf '%s: %s in %ds\n' "$name" "$result" $((SECONDS - start))
  summary+=$(printf '%6ds  %-6s  %s' $((SECONDS - start)) "$result" "$name")$'\n'
}

rm -rf bin/release/v0.0.0-nightly
echo "SEED=$SEED"
step 'fuzz' make fuzz
step 'fault' make fault
step 'crash' make crash
step 'leaks' make leaks
step 'chart' make chart-test
for version in ${COMPAT_VERSIONS-}; do
  step "compat $version" make compat K8S="$version"
done
step 'docs' make docs
step 'page in a browser' make web-e2e
step 'release' make release VERSION=v0.0.0-nightly DRY=1
step 'image, twice' make reproducible
printf '\n%sSEED=%s repeats the choices of random tests\n' "$summary" "$SEED"
exit $failed
