// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The docs site: the pages of docs/, grouped by the kind of page that their directory names.
// The pages also work on GitHub, so nothing here changes their text or their links.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// title returns a page's first heading.
function title(path) {
  const heading = readFileSync(path, 'utf8').match(/^# (.+)$/m)
  if (!heading) throw new Error(`${path} has no heading`)
  return heading[1].replaceAll('`', '')
}

// pages returns a directory's pages as items of the sidebar, sorted by title.
function pages(directory) {
  return readdirSync(join(root, directory))
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ text: title(join(root, directory, name)), link: `/${directory}/${name.replace(/\.md$/, '')}` }))
    .sort((a, b) => a.text.localeCompare(b.text))
}

const groups = [
  ['Tutorials', 'tutorials'],
  ['How-to guides', 'how-to'],
  ['Reference', 'reference'],
  ['Explanation', 'explanation']
]

export default defineConfig({
  title: 'KubeCleaner',
  description: 'Find unused, expired and unhealthy Kubernetes objects, and delete them safely.',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  outDir: '../bin/docs',
  cacheDir: '../bin/docs-cache',
  cleanUrls: false,
  // Fonts of the system: the site makes no request to another host, and loads faster.
  head: [['meta', { name: 'color-scheme', content: 'light dark' }]],
  // {{ }} in Go templates, Lua and Prometheus texts is text.
  markdown: {
    languageAlias: { cel: 'js' },
    config: (md) => {
      md.core.ruler.push('no-interpolation', escapeInterpolation)
      md.core.ruler.push('repository-links', linkToRepository)
      breakLongCode(md)
    }
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: groups.map(([text, directory]) => ({ text, items: pages(directory), collapsed: false })),
    docFooter: { prev: false, next: false }
  }
})

// escapeInterpolation marks inline code with braces, so that Vue does not evaluate it.
function escapeInterpolation(state) {
  for (const token of state.tokens) {
    for (const child of token.children ?? []) {
      if (child.type === 'code_inline') child.attrSet('v-pre', '')
    }
  }
}

// breakLongCode lets long inline code break after punctuation and between words. Its class is for tables, where other code does not break.
function breakLongCode(md) {
  const render = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, i, ...rest) => {
    if (tokens[i].content.length <= 20) return render(tokens, i, ...rest)
    tokens[i].attrJoin('class', 'long')
    const [, start, text, end] = render(tokens, i, ...rest).match(/^(<code[^>]*>)([^]*)(<\/code>)$/)
    return start + text.replaceAll(/[,.:=/|{}](?=[^\s])|[a-z](?=[A-Z])/g, '$&<wbr>') + end
  }
}

// linkToRepository lets links to files outside docs/ lead to the repository, because those files are not part of the site.
function linkToRepository(state) {
  for (const token of state.tokens) {
    for (const child of token.children ?? []) {
      const href = child.type === 'link_open' ? child.attrGet('href') : ''
      if (!href.startsWith('../')) continue
      const path = join('docs', dirname(state.env.relativePath), href)
      if (!path.startsWith('docs/')) child.attrSet('href', `https://github.com/kubecleaner/kubecleaner/blob/main/${path}`)
    }
  }
}
