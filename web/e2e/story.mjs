// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Plays the main story on the three addresses that make web demo prints: node e2e/story.mjs ADMINISTRATOR ANN BEN. It makes a
// Cleaner that deletes the unused volume of the namespace shop, and restores its claim. SHOTS=DIR keeps screenshots.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audit, launch, watch } from './browser.mjs';

const [administrator, ann, ben] = process.argv.slice(2);
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } }); // one for all, as for whoever tries it
const problems = [];

async function enter(url) {
  const page = await context.newPage();
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

const maker = await enter(administrator);
const name = `story-${Date.now()}`;

await link(maker, 'Findings').first().click();
await link(maker, /shop\/orders-2023/).first().click();
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
await link(maker, 'Look at the plan').click();
await button(maker, 'Approve …').waitFor();

const approver = await enter(ann);
await link(approver, 'Overview').first().click();
await link(approver, `Look at the plan of ${name}`).click();
await link(approver, /shop\/orders-2023/).waitFor();
await button(approver, 'Approve …').click();
await approver.getByLabel('Reason (optional)').fill('nobody uses it');
await button(approver, 'Approve').click();
await link(approver, new RegExp(`^run ${name}-`)).waitFor();
await step(approver, 'a second person approves the plan');

await link(maker, new RegExp(`^run ${name}-`)).click(); // the page was open while it waited
await maker.locator('.stages li', { hasText: 'Acted' }).getByText(/done, took/).waitFor();
await maker.locator('td', { hasText: 'approved the plan: nobody uses it' }).waitFor();
await maker.getByRole('button', { name: /^Restore from/ }).waitFor();
await step(maker, 'watches the run');

await maker.getByRole('button', { name: /^Restore from/ }).click();
await maker.getByRole('button', { name: 'Compare PersistentVolumeClaim shop/orders-2023 with live' }).click();
await maker.getByText('It does not exist now. A restore makes this:').waitFor();
await step(maker, 'compares a copy with what is there');
await maker.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
await maker.getByLabel('Restore PersistentVolumeClaim shop/orders-2023').check();
await button(maker, 'Restore 1 object …').click();
await button(maker, 'Restore 1 object').click();
await maker.locator('.toast', { hasText: 'Restored 1 object.' }).waitFor();
await step(maker, 'restores an object');

await link(maker, 'Cleaners').first().click();
await link(maker, name).click();
await maker.locator('h2', { hasText: 'History' }).waitFor();
await step(maker, 'reads the history');

const other = await enter(ben);
await link(other, 'Findings').first().click();
await link(other, /shop\/old-banner/).first().waitFor();
await step(other, 'a person with one namespace sees its findings');

assert.deepEqual(problems.flat(), []);
await browser.close();
