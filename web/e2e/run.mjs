// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Runs the page in Chromium against the server of fixtures: each page in both schemes and on a phone, each action, by
// keyboard, with axe. SHOTS=DIR keeps screenshots.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { actions } from './actions.mjs';
import { audit, launch, noOverflow, watch } from './browser.mjs';
import { start } from './fake.mjs';
import * as fixtures from './fixtures.mjs';

const dist = join(import.meta.dirname, '../dist');
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const server = await start(dist);
const browser = await launch();
const running = fixtures.runs[0].name;
const failed = fixtures.runs[1].name;

const pages = {
  overview: '/', cleaners: '/cleaners', cleaner: '/cleaners/expired-marks', notready: '/cleaners/broken', runs: '/runs', run: `/runs/${failed}`, running: `/runs/${running}`,
  plans: '/plans', plan: `/plans/${fixtures.plans[0].run}`, denied: `/plans/${fixtures.plans[1].run}`,
  restore: `/runs/${failed}/restore`, findings: '/findings', why: '/why?object=ConfigMap/shop/storefront-config',
  unused: '/why?object=PersistentVolumeClaim/shop/orders-archive', make: '/make?apiVersion=v1&kind=ConfigMap&namespace=shop&type=Unused', access: '/access', nowhere: '/nowhere',
};

let ran = 0;
let failures = 0;

/** test runs body on a page of its own, or on the given one: a new browser context takes seconds on a busy machine. */
async function test(name, body, options = {}, shared = undefined) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  const context = shared ? undefined : await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = shared ?? await context.newPage();
  const problems = watch(page, server.url);
  Object.assign(server.state, { writes: [], signedIn: true, empty: false, mode: 'Token', expired: false, proxy: false, forbidden: new Set() });
  ran++;
  try {
    await body(page);
    assert.deepEqual(problems.splice(0), [], 'the browser complained');
    console.log(`ok    ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAIL  ${name}\n${error.stack}`);
    if (shots) await page.screenshot({ path: join(shots, `failed-${failures}.png`) });
  } finally {
    page.removeAllListeners();
    await context?.close();
  }
}

async function open(page, path) {
  await page.goto(server.url + path);
  await page.locator('main h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

await actions({ test, open, server, fixtures });

for (const scheme of ['light', 'dark']) {
  for (const [width, size] of [[1280, 'wide'], [375, 'phone']]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
    const shared = await context.newPage();
    for (const [name, path] of Object.entries(pages)) {
      await test(`${name} ${scheme} ${size}: axe, width, nothing from elsewhere`, async (page) => {
        await open(page, path);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${scheme}-${size}.png`), fullPage: true });
        assert.deepEqual(await page.locator('[style]:not([style=""])').evaluateAll((all) => all.map((e) => e.outerHTML.slice(0, 200))), [], 'an inline style');
        await noOverflow(page);
        await audit(page);
        assert.equal(await page.evaluate(() => window.hacked), undefined, 'a name was run as HTML');
        assert.equal(await page.locator('img[src="x"]').count(), 0, 'a name became an element');
      }, {}, shared);
    }
    await context.close();
  }
}

await browser.close();
server.close();
console.log(`${ran - failures} of ${ran} passed`);
process.exit(failures ? 1 : 0);
