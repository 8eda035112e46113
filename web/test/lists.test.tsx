// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { LocationProvider } from 'preact-iso';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SessionContext } from '../src/lib/session';
import { FindingsPage } from '../src/pages/findings';
import { PlansPage } from '../src/pages/plans';
import { RestorePage } from '../src/pages/restore';

let root: HTMLElement;
beforeEach(() => { root = document.createElement('main'); document.body.replaceChildren(root); });
afterEach(() => { render(null, root); history.replaceState(null, '', '/'); });

it('shows the last page of a list that became shorter than the address says', async () => {
  const plan = { run: 'marks-1', cleaner: 'marks', hash: 'h', action: 'Delete', time: '2026-01-01T00:00:00Z', waits: true, objects: 1, expires: '2026-01-02T00:00:00Z', leftAlone: 0, decide: { allowed: true } };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url) => {
    const offset = Number(new URL(String(url), 'http://localhost').searchParams.get('offset'));
    const items = Array.from({ length: 100 }, (_, i) => ({ ...plan, run: `marks-${i}` })).slice(offset, offset + 50);
    return new Response(JSON.stringify({ items, total: 100, offset, limit: 50 }));
  });
  history.replaceState(null, '', '/plans?offset=150');
  const before = history.length;
  await act(() => render(<LocationProvider><PlansPage /></LocationProvider>, root));
  await vi.waitFor(() => expect(root.textContent).toContain('51–100 of 100 plans'));
  expect(root.textContent).not.toContain('No plan waits');
  expect(location.search).toBe('?offset=50');
  expect(history.length).toBe(before);
});

it('chooses and compares one of two objects whose kinds have the same name', async () => {
  const copy = { kind: 'Service', namespace: 'shop', name: 'web', outcome: 'Planned' };
  const objects = [{ ...copy, apiVersion: 'v1' }, { ...copy, apiVersion: 'serving.knative.dev/v1' }];
  const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(JSON.stringify({ run: 'r', cleaner: 'c', objects, after: '' })));
  const button = (text: string) => [...root.querySelectorAll('button')].find((each) => each.textContent === text)!;
  await act(() => render(<LocationProvider><RestorePage name="r" /></LocationProvider>, root));
  await vi.waitFor(() => expect(root.querySelectorAll('tbody tr').length).toBe(2));
  const boxes = () => [...root.querySelectorAll<HTMLInputElement>('tbody input')];
  await act(() => boxes()[0]!.click());
  expect(boxes().map((box) => box.checked)).toEqual([true, false]);
  await act(() => button('Restore 1 object …').click());
  await act(async () => { root.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })); });
  expect(asked.mock.calls.find(([, options]) => options!.method === 'POST')![1]!.body).toBe('{"only":["Service./shop/web"],"force":false}');
  await act(() => [...root.querySelectorAll('button')].filter((each) => each.textContent!.startsWith('Compare'))[1]!.click());
  expect(String(asked.mock.calls.at(-1)![0])).toContain('object=Service.serving.knative.dev%2Fshop%2Fweb');
});

it('shows all namespaces when a person chooses that, also where the server begins with one', async () => {
  const session = { user: 'ada', groups: null, cluster: '', mode: 'Local' as const, loggedIn: true, version: '', readOnly: false, namespace: 'shop' };
  const data = { items: [], total: 0, offset: 0, limit: 50, groups: [], unknown: 0, unread: [], objects: 0, kinds: 1, frees: {}, scanned: '2026-01-01T00:00:00Z', rights: [], namespaces: ['shop'] };
  const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(JSON.stringify(data)));
  const last = () => String(asked.mock.calls.filter(([url]) => String(url).includes('findings')).at(-1)![0]);
  const choice = () => [...root.querySelectorAll('select')].find((each) => each.textContent === 'Allshop')!;
  await act(() => render(<SessionContext.Provider value={session}><LocationProvider><FindingsPage /></LocationProvider></SessionContext.Provider>, root));
  await vi.waitFor(() => expect(choice()?.value).toBe('shop'));
  expect(last()).toContain('namespace=shop');
  await act(() => { choice().value = ''; choice().dispatchEvent(new Event('change', { bubbles: true })); });
  expect(location.search).toBe('?namespace=*');
  expect(last()).not.toContain('namespace');
  expect(choice().value).toBe('');
});
