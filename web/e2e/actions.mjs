// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// What a person does, mostly by keyboard, and what must then have been asked of the server.
import assert from 'node:assert/strict';
import { audit } from './browser.mjs';

/** press goes to an element with the Tab key only, and presses a key there. */
async function press(page, locator, key = 'Enter') {
  for (let i = 0; i < 120; i++) {
    if (await locator.evaluate((e) => e === document.activeElement).catch(() => false)) return page.keyboard.press(key);
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${locator}`);
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const toast = (page, text) => page.locator('.toast', { hasText: text }).waitFor();

export async function actions({ test, open, server, fixtures }) {
  const { state } = server;
  const [, failed] = fixtures.runs.map((run) => run.name);

  await test('keyboard: skip link, navigation, visible focus', async (page) => {
    await open(page, '/');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'MAIN');
    await page.evaluate(() => document.activeElement.blur());
    const link = page.getByRole('link', { name: 'Cleaners', exact: true });
    await press(page, link, 'Shift'); // only goes there
    assert.notEqual(await link.evaluate((e) => getComputedStyle(e).outlineStyle), 'none', 'the focus cannot be seen');
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'Cleaners' }).waitFor();
    await page.waitForFunction(() => document.activeElement.tagName === 'MAIN'); // one frame after the heading
    assert.match(await page.title(), /^Cleaners/);
  });

  await test('cleaners: filter, sort and page stand in the address', async (page) => {
    await open(page, '/cleaners');
    await page.getByLabel('Name', { exact: true }).fill('team-');
    await page.waitForURL(/q=team-/);
    await page.getByRole('columnheader', { name: /Name/ }).getByRole('button').click();
    await page.waitForURL(/sort=name/);
    await page.getByText('1–50 of 60 Cleaners').waitFor();
    await button(page, 'Next').click();
    await page.getByText('51–60 of 60 Cleaners').waitFor();
    assert.match(page.url(), /offset=50/);
    await page.reload();
    await page.getByText('51–60 of 60 Cleaners').waitFor();
    await page.goBack();
    await page.getByText('1–50 of 60 Cleaners').waitFor();
  });

  await test('a Cleaner: run, suspend, test a channel', async (page) => {
    await open(page, '/cleaners/expired-marks');
    await button(page, 'Run now').click();
    await page.getByLabel(/Type the Cleaner/).fill('expired-marks');
    await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
    await toast(page, 'was asked to run');
    await button(page, 'Suspend').click();
    await toast(page, 'is suspended');
    await button(page, 'Send a test').first().click();
    await button(page, 'Send').click();
    await page.getByText('The test was sent.').waitFor();
    assert.deepEqual(state.writes.map((w) => w.path), ['cleaners/expired-marks/trigger', 'cleaners/expired-marks/suspend', 'cleaners/expired-marks/notify-test?notification=ops']);
  });

  await test('a run: filter its outcomes', async (page) => {
    await open(page, `/runs/${failed}`);
    await page.getByLabel('Outcome', { exact: true }).selectOption('Failed');
    await page.getByText('1–1 of 1 objects').waitFor();
    assert.match(page.url(), /outcome=Failed/);
  });

  await test('restore: compare, choose, confirm', async (page) => {
    await open(page, `/runs/${failed}`);
    await button(page, 'Restore from 7 copies').click();
    await button(page, 'Compare ConfigMap shop/theme-2023 with live').click();
    await page.locator('.diff .add', { hasText: 'color: red' }).waitFor();
    await audit(page);
    await button(page, 'Close').click();
    await page.getByLabel('Restore ConfigMap shop/old-banner').check();
    await button(page, 'Restore 1 object …').click();
    await button(page, 'Restore 1 object').click();
    await toast(page, 'Restored 1 object');
    assert.deepEqual(state.writes, [{ method: 'POST', path: `runs/${failed}/restore`, body: { only: ['ConfigMap./shop/old-banner'], force: false } }]);
  });

  await test('plans: from the overview to an approval, by keyboard', async (page) => {
    await open(page, '/');
    await press(page, page.getByRole('link', { name: 'Look at the plan of expired-marks' }));
    await page.getByText('Nothing has named it for 21 days').waitFor();
    await press(page, button(page, 'Approve …'));
    await audit(page);
    await press(page, page.getByLabel('Reason (optional)'), 'y');
    await press(page, button(page, 'Approve'));
    await page.locator('.note', { hasText: 'You approved the plan.' }).waitFor();
    const { run, hash } = fixtures.plans[0];
    assert.deepEqual(state.writes, [{ method: 'POST', path: `plans/${run}/approve`, body: { hash, reason: 'y', user: fixtures.whoami.user } }]);
  });

  await test('plans: a rejection needs a reason', async (page) => {
    const { run, hash } = fixtures.plans[0];
    await open(page, `/plans/${run}`);
    await button(page, 'Reject …').click();
    await button(page, 'Reject').click({ force: true });
    assert.deepEqual(state.writes, []);
    await page.getByLabel('Reason', { exact: true }).fill('still needed');
    await audit(page);
    await button(page, 'Reject').click();
    await toast(page, 'You rejected the plan.');
    assert.deepEqual(state.writes, [{ method: 'POST', path: `plans/${run}/reject`, body: { hash, reason: 'still needed', user: fixtures.whoami.user } }]);
  });

  await test('plans: who may not approve is told the missing right', async (page) => {
    await open(page, `/plans/${fixtures.plans[1].run}`);
    await page.getByText('{"spec":{"replicas":0}}').first().waitFor();
    await button(page, 'Approve …').click({ force: true });
    await page.getByText('Missing right: approve cleaners.apps.projectsveltos.io "paused-deployments"').first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  await test('from a finding to a Cleaner: group, why, preview, create', async (page) => {
    await open(page, '/findings');
    await button(page, 'PersistentVolumeClaim · 2 · 28 GiB').click();
    await page.waitForURL(/kind=PersistentVolumeClaim/);
    await page.getByRole('link', { name: /orders-archive/ }).first().click();
    await page.getByText('Nothing uses it.').waitFor();
    await page.getByRole('link', { name: 'Make a Cleaner' }).click();
    await button(page, 'Preview').click();
    await page.getByText('5 matched').waitFor();
    await audit(page);
    await button(page, 'Create the Cleaner').click();
    await button(page, 'Create').click();
    await page.locator('h1', { hasText: 'unused-persistentvolumeclaims-shop' }).waitFor();
    assert.match(state.writes[1].body.yaml, /type: Unused/);
  });

  await test('sign in and out', async (page) => {
    state.signedIn = false;
    await page.goto(server.url);
    await page.getByLabel('Token').waitFor();
    await audit(page);
    await page.getByLabel('Token').fill('bad');
    await page.keyboard.press('Enter');
    await page.getByText('does not know this token').waitFor();
    await page.getByLabel('Token').fill('good-token');
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'Overview' }).waitFor();
    await button(page, 'Sign out').click();
    await page.getByLabel('Token').waitFor();
  });

  await test('an expired token leads to the login, once', async (page) => {
    Object.assign(state, { signedIn: false, expired: true });
    let asked = 0;
    page.on('request', (request) => { if (request.url().endsWith('/whoami')) asked++; });
    await page.goto(server.url);
    await page.getByLabel('Token').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(asked, 1);
  });

  await test('the end of a proxy\'s session is said, once', async (page) => {
    await open(page, '/cleaners');
    state.proxy = true;
    let asked = 0;
    page.on('request', (request) => { if (request.url().endsWith('/config')) asked++; });
    for (const stream of state.streams) stream.write('event: cleaners\ndata: {"type":"MODIFIED","name":"x"}\n\n');
    await page.getByText('You are signed out of the proxy').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(asked, 1);
    await audit(page);
  });

  await test('a browser without the one-time address is told so', async (page) => {
    Object.assign(state, { signedIn: false, mode: 'Local' });
    await page.goto(server.url);
    await page.getByText('That address can be opened once.').waitFor();
    await audit(page);
  });

  await test('a missing right takes the page\'s place, and says which', async (page) => {
    state.forbidden.add('cleaners');
    await page.goto(`${server.url}/cleaners`);
    await page.getByText('list cleaners (apps.projectsveltos.io)').waitFor();
    await audit(page);
  });

  await test('empty: each page says the next step', async (page) => {
    state.empty = true;
    for (const [path, text] of [['/', 'See what is unused'], ['/cleaners', 'There is no Cleaner yet.'], ['/findings', 'Nothing was found.'], ['/runs', 'Nothing ran yet.'], ['/plans', 'No plan waits for you.']]) {
      await open(page, path);
      await page.getByText(text).first().waitFor();
    }
  });

  await test('an event reads again; without the stream the page says so', async (page) => {
    await open(page, '/cleaners');
    await page.getByText('Live', { exact: true }).waitFor();
    const again = page.waitForRequest(/\/api\/v1\/cleaners\?/);
    for (const stream of state.streams) stream.write('event: cleaners\ndata: {"type":"MODIFIED","name":"x"}\n\n');
    await again;
    state.forbidden.add('events');
    for (const stream of state.streams) stream.end();
    await page.getByText('Updates every 10 seconds').waitFor();
  });

  await test('colours: the button goes from system to light to dark', async (page) => {
    await open(page, '/');
    await button(page, 'Colours: System').click();
    await button(page, 'Colours: Light').click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await audit(page);
    await page.reload();
    await button(page, 'Colours: Dark').waitFor();
  });
}
