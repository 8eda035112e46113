// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Plays the main story on a real server with an operator, such as make demo: node e2e/story.mjs URL [URL OF A SECOND PERSON],
// where URL is what kubectl cleaner dashboard prints. It makes a Cleaner that deletes ConfigMaps of the namespace shop, and
// restores one of them. SHOTS=DIR keeps screenshots.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audit, launch, watch } from './browser.mjs';

const [entry, second] = process.argv.slice(2);
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
const problems = [];

async function enter(url) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  problems.push(watch(page, new URL(url).origin));
  await page.goto(url);
  await page.locator('nav').first().waitFor();
  return page;
}

let steps = 0;
async function step(page, text) {
  await audit(page);
  if (shots) await page.screenshot({ path: join(shots, `story-${++steps}.png`), fullPage: true });
  console.log(`ok    ${text}`);
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const link = (page, name) => page.getByRole('link', { name });

const maker = await enter(entry);
const name = `story-${Date.now()}`;

await link(maker, 'Findings').first().click();
await link(maker, /shop\/old-banner/).first().click();
await maker.getByText('Nothing uses it.').waitFor();
await step(maker, 'finds an unused object, and sees why');

await link(maker, 'Make a Cleaner').click();
await maker.getByLabel('Name', { exact: true }).fill(name);
await maker.getByLabel(/Found so for/).fill('0');
await maker.getByLabel('Action').selectOption('Delete');
await button(maker, 'Preview').click();
await maker.getByText(/would be touched/).waitFor();
await step(maker, 'previews a Cleaner for it');

await button(maker, 'Create the Cleaner').click();
await maker.getByLabel(/Type the Cleaner/).fill(name);
await button(maker, 'Create').click();
await maker.locator('h1', { hasText: name }).waitFor();
await maker.getByText('It has not run yet.').first().waitFor();
await button(maker, 'Run now').click();
await maker.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
await link(maker, 'Look at the plan').waitFor();
await step(maker, 'makes the Cleaner and runs it: a plan waits');

const approver = second ? await enter(second) : maker;
await link(approver, 'Overview').first().click();
await link(approver, `Look at the plan of ${name}`).click();
await link(approver, /shop\/old-banner/).waitFor();
await button(approver, 'Approve …').click();
await approver.getByLabel('Reason (optional)').fill('nobody uses them');
await button(approver, 'Approve').click();
const carriedOut = link(approver, new RegExp(`^run ${name}-`));
await carriedOut.waitFor();
await step(approver, 'a person approves the plan');

await carriedOut.click();
await approver.locator('.stages li', { hasText: 'Acted' }).getByText(/done, took/).waitFor();
await approver.locator('td', { hasText: 'approved the plan: nobody uses them' }).waitFor();
await approver.getByRole('button', { name: /^Restore from/ }).waitFor();
await step(approver, 'watches the run');

await approver.getByRole('button', { name: /^Restore from/ }).click();
await approver.getByRole('button', { name: 'Compare ConfigMap shop/old-banner with live' }).click();
await approver.getByText('It does not exist now. A restore makes this:').waitFor();
await step(approver, 'compares a copy with what is there');
await approver.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
await approver.getByLabel('Restore ConfigMap shop/old-banner').check();
await button(approver, 'Restore 1 object …').click();
await button(approver, 'Restore 1 object').click();
await approver.locator('.toast', { hasText: 'Restored 1 object.' }).waitFor();
await step(approver, 'restores an object');

await link(approver, 'Cleaners').first().click();
await link(approver, name).click();
await approver.locator('h2', { hasText: 'History' }).waitFor();
await step(approver, 'reads the history');

assert.deepEqual(problems.flat(), []);
await browser.close();
