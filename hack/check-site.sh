#!/usr/bin/env bash
# Copyright The KubeCleaner Authors.
# SPDX-License-Identifier: Apache-2.0
# Fails if a page of the built docs site loads anything from another host: a script, style, picture or font. Links that people follow are fine.
set -euo pipefail
shopt -s inherit_errexit # a search that fails must not look like one that finds nothing

site=${1:?name the directory of the site}
[[ -f $site/index.html ]] || { echo "$site has no index.html: build the site first" >&2; exit 2; }

host='(https?:)?//'
loads="<(script|img|iframe|embed|object|source|video|audio|track|input)\\b[^>]*[[:space:]](src|srcset|data|poster)=[\"']?$host|<link\\b[^>]*[[:space:]]href=[\"']?$host"
styles="url\\([\"']?$host|@import[[:space:]]*[\"']$host"
search() { grep -rzEoi "$@" "$site" || [[ $? == 1 ]]; } # -z: a tag may go over several lines
found=$({ search --include='*.html' -- "$loads"; search --include='*.html' --include='*.css' -- "$styles"; } | tr '\0' '\n')
[[ -z $found ]] || { printf 'the site loads from another host:\n%s\n' "$found" >&2; exit 1; }
