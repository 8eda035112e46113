// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

/** watch collects what a page must never do: ask another server, break the policy, throw. */
export function watch(page, origin) {
  const problems = [];
  page.on('request', (request) => { if (!request.url().startsWith(origin)) problems.push(`asked ${request.url()}`); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // The browser itself writes failed requests to the console; the tests of errors provoke them.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) problems.push(message.text());
  });
  return problems;
}

export async function audit(page) {
  // Through the debugger: the page's policy would not let a script element in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  const found = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.failureSummary}`).join(' | ')}`);
  assert.deepEqual(found, [], 'axe');
  const cut = await page.evaluate(() => [...document.querySelectorAll('svg text')].filter((text) => {
    const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return inner.left < outer.left - 1 || inner.right > outer.right + 1;
  }).map((text) => text.textContent));
  assert.deepEqual(cut, [], 'texts that a picture cuts off');
}

export async function noOverflow(page) {
  const { scroll, client, widest } = await page.evaluate(() => {
    const root = document.documentElement;
    const wide = [...document.querySelectorAll('body *')].find((e) => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll, .code'));
    return { scroll: root.scrollWidth, client: root.clientWidth, widest: wide?.outerHTML.slice(0, 200) };
  });
  assert.ok(scroll <= client, `the page is ${scroll} px wide on ${client}: ${widest}`);
}
