#!/usr/bin/env bash
# Copyright The KubeCleaner Authors.
# SPDX-License-Identifier: Apache-2.0
# What takes too long for each change: hours of random tests with fresh seeds, older versions of Kubernetes, the page in a browser, and
# releases. STEPS names some of the steps. A failed step does not end it. The last lines say how long each step took, and which failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
exec </dev/null
trap 'exit 130' INT # make turns it into an error, and the next step would begin
export SEED=${SEED:-$(date +%s)}
STEPS=${STEPS-}

steps=(fuzz fault crash leaks chart)
for version in ${COMPAT_VERSIONS-}; do steps+=("compat-$version"); done
steps+=(docs page release reproducible)

run() { # STEP
  case $1 in
    chart) make chart-test ;;
    compat-*) make compat K8S="${1#compat-}" ;;
    page) make web-e2e ;;
    release) rm -rf bin/release/v0.0.0-nightly && make release VERSION=v0.0.0-nightly DRY=1 ;;
    *) make "$1" ;;
  esac
}

read -ra wanted <<<"${STEPS//$'\n'/ }"
((${#wanted[@]})) || wanted=("${steps[@]}")
for name in "${wanted[@]}"; do
  if [[ " ${steps[*]} " != *" $name "* ]]; then
    echo "STEPS: there is no step $name; there are: ${steps[*]}" >&2
    exit 2
  fi
done

echo "SEED=$SEED"
summary='' failed=0
for name in "${wanted[@]}"; do
  start=$SECONDS result=ok
  printf '\n=== %s\n' "$name"
  run "$name" || { result=FAILED; failed=1; }
  printf '%s: %s in %ds\n' "$name" "$result" $((SECONDS - start))
  summary+=$(printf '%6ds  %-6s  %s' $((SECONDS - start)) "$result" "$name")$'\n'
done
printf '\n%sSEED=%s repeats the choices of random tests\n' "$summary" "$SEED"
exit $failed
