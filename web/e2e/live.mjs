// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Looks at each page of a real server: node e2e/live.mjs URL, where URL is what kubectl cleaner dashboard prints, or with
// TOKEN that of a server in the cluster, whose certificate is not verified. It reads only. SHOTS=DIR keeps screenshots.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audit, launch, noOverflow, watch } from './browser.mjs';

const [entry] = process.argv.slice(2);
const { origin } = new URL(entry);
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
let failures = 0;

const ignoreHTTPSErrors = Boolean(process.env.TOKEN);
const context = await browser.newContext({ ignoreHTTPSErrors });
const first = await context.newPage();
await first.goto(entry);
if (process.env.TOKEN) {
  await first.getByLabel('Token').fill(process.env.TOKEN);
  await first.keyboard.press('Enter');
}
await first.locator('nav').first().waitFor();
const storageState = await context.storageState();
const read = (path) => first.evaluate((p) => fetch(`/api/v1/${p}`, { headers: { 'X-Kubecleaner-Key': localStorage.getItem('kubecleaner-key') } }).then((r) => r.json()), path);

/** some are the first, and the first of each state, that the server has. */
async function some(list, of) {
  const { items } = await read(list);
  return [...new Map((items ?? []).map((item) => [of(item), item.name])).values()];
}

const cleaners = await some('cleaners?limit=200', (row) => row.state);
const runs = await some('runs?limit=200', (row) => row.phase + row.action);
const { items: kept } = await read('runs?limit=200');
const restorable = (kept ?? []).filter((row) => row.copies).slice(0, 2).map((row) => row.name);
const { items: plans } = await read('plans');
const { items: found } = await read('findings?limit=500');
const objects = [...new Map((found ?? []).map((f) => [f.type, f])).values()].map((f) => [f.kind, f.namespace, f.name].filter(Boolean).join('/'));
const paths = ['/', '/cleaners', '/runs', '/plans', '/findings', '/access', '/make?kind=ConfigMap&apiVersion=v1&type=Unused',
  ...cleaners.map((name) => `/cleaners/${encodeURIComponent(name)}`), ...runs.map((name) => `/runs/${name}`), ...restorable.map((name) => `/runs/${name}/restore`),
  ...(plans ?? []).slice(0, 2).map((plan) => `/plans/${plan.run}`),
  ...objects.map((object) => `/why?${new URLSearchParams({ object })}`)];

for (const [width, colorScheme] of [[1280, 'light'], [375, 'dark']]) {
  const viewer = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, storageState, ignoreHTTPSErrors });
  const page = await viewer.newPage();
  for (const path of paths) {
    const problems = watch(page, origin);
    try {
      await page.goto(origin + path);
      await page.locator('main h1').first().waitFor();
      await page.waitForFunction(() => !document.querySelector('.skeleton'), undefined, { timeout: 30_000 });
      if (shots) await page.screenshot({ path: join(shots, `${path.replace(/[^a-z0-9]+/gi, '_')}-${colorScheme}.png`), fullPage: true });
      assert.equal(await page.locator('.note.bad[role=alert]').count(), 0, 'the page shows an error');
      await noOverflow(page);
      await audit(page);
      assert.deepEqual(problems, []);
      console.log(`ok    ${width} ${path}`);
    } catch (error) {
      failures++;
      console.log(`FAIL  ${width} ${path}\n${error.message}`);
    }
    page.removeAllListeners();
  }
  await viewer.close();
}
await browser.close();
process.exit(failures ? 1 : 0);
