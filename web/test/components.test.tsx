// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import axe from 'axe-core';
import { render } from 'preact';
import type { ComponentChild } from 'preact';
import { LocationProvider, useLocation } from 'preact-iso';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../src/lib/api';
import { SessionContext } from '../src/lib/session';
import { Content as PlanContent, Decide, EndNote } from '../src/pages/plan';
import { History, needsApproval, runBars, runText } from '../src/pages/cleaner';
import { MakePage } from '../src/pages/make';
import { compareText } from '../src/pages/restore';
import { Stages } from '../src/pages/run';
import { FindingsPage, Nothing } from '../src/pages/findings';
import { allDays, Content } from '../src/pages/overview';
import { Content as WhyContent, searchedText, verdict } from '../src/pages/why';
import { Action, Failure } from '../src/ui/basics';
import { Bars, nice } from '../src/ui/chart';
import { Confirm } from '../src/ui/dialog';
import { cut, UseGraph } from '../src/ui/graph';
import { OutcomeTable } from '../src/ui/outcomes';
import { Preview, waitText } from '../src/ui/preview';
import { Pager, Table } from '../src/ui/table';
import { Toasts, useSay } from '../src/ui/toast';

const evil = '<img src=x onerror="window.hacked=1">';
let root: HTMLElement;
beforeEach(() => { root = document.createElement('main'); document.body.replaceChildren(root); document.documentElement.lang = 'en'; document.title = 'test'; });
afterEach(() => { render(null, root); });

const show = (what: ComponentChild) => act(() => render(what, root));
const button = (label: string) => [...root.querySelectorAll('button')].find((each) => each.textContent === label)!;
const type = (selector: string, value: string) => act(() => {
  const input = root.querySelector<HTMLInputElement>(selector)!;
  input.value = value;
  input.dispatchEvent(new Event('input', { bubbles: true }));
});
const submit = () => act(async () => { root.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })); });

async function accessible() {
  const { violations } = await axe.run(root, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false }, 'page-has-heading-one': { enabled: false } } });
  expect(violations.map((each) => `${each.id}: ${each.nodes[0]?.html}`)).toEqual([]);
}

describe('Action', () => {
  it('says which right is missing, stays focusable, and does nothing', async () => {
    const click = vi.fn();
    await show(<Action label="Run now" missing="Missing right: patch cleaners" onClick={click} />);
    const found = root.querySelector('button')!;
    found.click();
    expect(click).not.toHaveBeenCalled();
    expect(found.hasAttribute('disabled')).toBe(false);
    expect(document.getElementById(found.getAttribute('aria-describedby')!)!.textContent).toBe('Missing right: patch cleaners');
    await accessible();
  });
});

describe('a person without rights', () => {
  it('does not say on the overview that nothing is there', async () => {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{"error":"no","missing":"list cleanerruns"}', { status: 403 }));
    const right = (id: string) => ({ id, text: id, allowed: false, missing: `list ${id}` });
    const empty = { totalCleaners: 0, ready: 0, failing: 0, suspended: 0, running: 0, attention: [], next: [], days: [] };
    await show(<Content data={{ ...empty, missing: [right('cleaners.read'), right('runs.read')] }} />);
    expect([...root.querySelectorAll('.tile b')].map((each) => each.textContent)).toEqual(Array(5).fill('–not known'));
    expect(root.querySelector('.note a')!.getAttribute('href')).toBe('/findings');
    for (const wrong of ['Nothing needs you', 'Nothing is due', 'No run has found']) expect(root.textContent).not.toContain(wrong);
    await accessible();
    await show(<Content data={{ ...empty, missing: [right('runs.read')] }} />);
    expect([...root.querySelectorAll('.tile b')].map((each) => each.textContent)).toEqual(['0', '0', '0', '–not known', '–not known']);
    expect(root.textContent).toContain('Nothing needs you');
  });
  it('does not say that all is in use when nothing could be read', async () => {
    const read = { items: [], total: 0, offset: 0, limit: 50, groups: [], unknown: 0, unread: [], objects: 0, kinds: 0, frees: {}, scanned: '2026-01-01T00:00:00Z' };
    await show(<Nothing filtered={false} of={read as never} onNamespace={() => {}} />);
    expect(root.textContent).toContain('You may read only some namespaces, or none.Type a namespace that you may read');
    await show(<Nothing filtered={false} of={{ ...read, kinds: 3, unread: [{ kind: 'Pod', forbidden: true }] } as never} onNamespace={() => {}} />);
    expect(root.textContent).toContain('1 kind could not be read');
    expect(root.textContent).not.toContain('you may read is in use');
    await show(<Nothing filtered={false} of={{ ...read, kinds: 3 } as never} onNamespace={() => {}} />);
    expect(root.textContent).toContain('Nothing was found.');
  });
});

describe('why, with rights in one namespace', () => {
  const pods = { kind: 'Pod', forbidden: true, elsewhere: true };
  const why = {
    kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'old', exists: true, used: null, users: [], searched: [], notReadable: [pods], cleaners: [],
    findings: [{ kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'old', type: 'Unused', uid: 'u', reason: 'no user found', actionable: false, unknown: true, notReadable: [pods] }],
    cleanersUnread: 'cleaners.apps.projectsveltos.io is forbidden: User "carol" cannot list resource "cleaners"',
  };
  it('is unknown, never unused, and does not say that no Cleaner selects it', async () => {
    expect(verdict(why)).toBe('Unknown');
    expect(verdict({ ...why, findings: [{ ...why.findings[0]!, unknown: undefined, notReadable: [] }] })).toBe('Unused');
    await show(<WhyContent of={why} />);
    expect(root.textContent).toContain('Unknown, unused?');
    expect(root.textContent).toContain('not known: you may not list Cleaners');
    expect(root.textContent).not.toContain('none selects it');
  });
});

describe('what is unknown although everything was read', () => {
  const found = { kind: 'ConfigMap', namespace: 'shop', name: 'settings', type: 'Unused', uid: 'u', reason: 'somebody may read it', actionable: false, unknown: true };
  const why = { kind: found.kind, namespace: found.namespace, name: found.name, exists: true, used: null, users: [], searched: [], notReadable: [], cleaners: [], findings: [found] };
  it('is never called unused, and no right is said to be missing', async () => {
    expect(verdict(why)).toBe('Unknown');
    await show(<WhyContent of={why} />);
    expect(root.textContent).toContain('Unknown, unused?');
    expect(root.textContent).toContain('What was read does not show whether anything uses it;');
    expect(root.textContent).not.toContain('may not be read');
  });
  it('is Unknown in the list of findings, and counted', async () => {
    const data = { items: [found], total: 1, offset: 0, limit: 50, groups: [], unknown: 1, unread: [], objects: 9, kinds: 3, frees: {}, scanned: '2026-01-01T00:00:00Z', notCounted: { 'managed by Helm': 2, protected: 4 } };
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(JSON.stringify(data), { headers: { 'Content-Type': 'application/json' } }));
    await show(<LocationProvider><FindingsPage /></LocationProvider>);
    await vi.waitFor(() => expect(root.querySelector('tbody .badge')?.textContent).toBe('Unknown'));
    expect(root.querySelector('tbody')!.textContent).toContain('Unused?');
    expect(root.textContent).toContain('1 finding, 1 of them unknown');
    expect(root.textContent).toContain('not counted: 4 protected, 2 managed by Helm');
  });
});

describe('what deleting an object would free', () => {
  const why = { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data', exists: true, used: true, users: [], searched: [], notReadable: null, cleaners: [], findings: [] };
  const found = { kind: why.kind, name: why.name, type: 'Unused', uid: 'u', reason: 'no user found', actionable: true };
  it.each([
    ['in use', why, 'It is in use.What deleting it would free was not looked at.'],
    ['not in use, yet no finding', { ...why, used: false }, 'It was not found unused.What deleting it would free was not looked at.'],
    ['not known', { ...why, used: null }, 'This is not known.What deleting it would free was not looked at.'],
    ['gone', { ...why, exists: false }, 'There is nothing to delete.'],
    ['found, and frees nothing', { ...why, findings: [{ ...found, frees: { objects: 1 } }] }, 'Nothing that is counted.'],
    ['found, and frees storage', { ...why, findings: [{ ...found, frees: { volumeBytes: 2 ** 30 } }] }, 'What deleting it would free1 GiB'],
  ])('%s', async (_, of, text) => {
    await show(<WhyContent of={of} />);
    expect(root.textContent).toContain(text);
    expect(root.textContent!.includes('Nothing that is counted')).toBe(text.startsWith('Nothing'));
  });
});

describe('Preview', () => {
  it('forgets what it found of another manifest', async () => {
    const result = { cleaners: [{ action: 'Scan', considered: 5, matched: 3, wouldAct: 0, leftAlone: 0, objects: [] }], notes: 'A note.' };
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(`event: result\ndata: ${JSON.stringify(result)}\n\n`));
    await show(<Preview of={{ yaml: 'action: Scan' }} />);
    await act(() => button('Preview').click());
    await vi.waitFor(() => expect(root.textContent).toContain('3 matched'));
    expect(root.textContent).toContain('A note.');
    await show(<Preview of={{ yaml: 'action: Delete' }} />);
    for (const old of ['3 matched', 'A note.', 'Done']) expect(root.textContent).not.toContain(old);
    fetched.mockRestore();
  });
});

const answers = (event: string, data: unknown) => vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));

describe('a Preview of what must be found so for some time', () => {
  const notes = '1 of 5 objects matches; 1 would be deleted later. An object counts only if every run of the last 14d found it';
  const result = { action: 'Delete', considered: 5, matched: 1, wouldAct: 1, leftAlone: 0, objects: [] };
  it('does not say that a run now deletes it', async () => {
    const fetched = answers('result', { cleaners: [result], notes });
    await show(<Preview of={{ yaml: 'action: Delete' }} forSeconds={14 * 86400} />);
    await act(() => button('Preview').click());
    await vi.waitFor(() => expect(root.textContent).toContain('1 would be touched later.'));
    expect(root.textContent).toContain('1 would be deleted later. An object counts only if');
    expect(root.textContent).toContain('A run now would touch nothing.');
    await show(<Preview of={{ yaml: 'action: Delete' }} forSeconds={0} />);
    expect(root.textContent).toContain('1 would be touched.');
    fetched.mockRestore();
  });
  it.each([
    [14 * 86400, true, 'for 14 days: until 15 January 2026 at the earliest.'], [90000, true, 'for 1 d 1 h: until 2 January'], [86400, false, 'only those of them that every run has found so for 1 day.'],
  ])('%d seconds', (long, isNew, text) => expect(waitText(long, isNew, Date.parse('2026-01-01T12:00:00Z'))).toContain(text));
});

describe('a Preview that fails', () => {
  it('shows only the error and the missing right', async () => {
    const fetched = answers('error', { error: 'you may not list what this Cleaner selects', missing: 'list deployments.apps in namespace shop' });
    await show(<Preview of={{ yaml: 'action: Scan' }} />);
    await act(() => button('Preview').click());
    await vi.waitFor(() => expect(root.textContent).toContain('Missing right: list deployments.apps in namespace shop'));
    for (const wrong of ['Done', 'looked at,', 'Not previewed yet']) expect(root.textContent).not.toContain(wrong);
    fetched.mockRestore();
  });
  it('counts nothing when nothing could be looked at', async () => {
    const fetched = answers('result', { cleaners: [{ action: 'Scan', considered: 0, matched: 0, wouldAct: 0, leftAlone: 0, incomplete: 'there is no kind Foo', objects: [] }] });
    await show(<Preview of={{ yaml: 'action: Scan' }} />);
    await act(() => button('Preview').click());
    await vi.waitFor(() => expect(root.textContent).toContain('A run would touch nothing: there is no kind Foo'));
    expect(root.querySelector('[role=status]')!.textContent).toBe('Nothing could be previewed.');
    expect(root.textContent).not.toContain('0 matched');
    fetched.mockRestore();
  });
});

describe('make a Cleaner', () => {
  it.each([['Expired', '0'], ['CertificateExpired', '0'], ['Unused', '14']])('of what is %s waits for %s days', async (type, days) => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{}'));
    history.replaceState(null, '', `/make?type=${type}`);
    await show(<LocationProvider><MakePage /></LocationProvider>);
    expect(root.querySelector<HTMLInputElement>('#for')!.value).toBe(days);
    history.replaceState(null, '', '/');
    fetched.mockRestore();
  });
  it('shows what the server says that no restore brings back', async () => {
    const warning = 'Everything in a Namespace is deleted with it. No copy of this is kept.';
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (path) => new Response(JSON.stringify(String(path).includes('/loss?kind=ConfigMap') ? { warnings: [warning] } : {})));
    await show(<LocationProvider><MakePage /></LocationProvider>);
    expect(root.querySelector('#action option:last-child')!.textContent).toBe('Delete');
    await vi.waitFor(() => expect(root.querySelector('#action option:last-child')!.textContent).toBe('Delete: not all can be restored'));
    const action = root.querySelector<HTMLSelectElement>('#action')!;
    action.value = 'Delete';
    await act(() => { action.dispatchEvent(new Event('change', { bubbles: true })); });
    expect(root.textContent).toContain(warning);
    fetched.mockRestore();
  });
});

describe('run now', () => {
  const of = { action: 'Delete', guardrails: [{ field: 'spec.approval', text: '' }] } as never;
  it('says that it never ran, and that a person must approve', () => {
    expect(runText(of)).toContain('It never ran');
    expect(runText(of)).toContain('a person must approve');
    expect(runText({ ...(of as object), guardrails: [], lastRun: { matched: 2 } } as never)).toBe('Its action is Delete. Its last run matched 2 objects; this run judges all objects again.');
  });
});

describe('History', () => {
  const of = { name: 'x', action: 'Scan', missing: null, history: [], next: '2026-01-01T00:00:00Z' };
  const lastRun = { name: 'x-1', time: '2026-01-01T00:00:00Z' };
  it.each([
    ['ran never', of, 'It has not run yet.It runs'],
    ['ran, and has no record', { ...of, lastRun }, 'No run is on record any more.'],
    ['has runs that the person may not see', { ...of, lastRun, missing: [{ id: 'runs.read', text: 'see runs', allowed: false }] }, 'This is not known.'],
  ])('of a Cleaner that %s', async (_, of, text) => {
    await show(<History of={of as never} />);
    expect(root.textContent).toContain(text);
  });
});

describe('Decide', () => {
  const plan = {
    run: 'x-1', cleaner: 'x', hash: 'h', action: 'Delete', time: '2026-01-01T00:00:00Z', waits: true, objects: 2, expires: '2026-01-02T00:00:00Z', leftAlone: 0,
    decide: { allowed: true },
  };
  const answers = (status: number, body: unknown) => vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(JSON.stringify(body), { status }));
  const press = (label: string) => act(() => button(label).click());
  it('rejects with a reason only, and sends the plan that was seen', async () => {
    const fetched = answers(200, {});
    const decided = vi.fn();
    const session = { user: 'ada', groups: null, cluster: '', mode: 'Token' as const, loggedIn: true, version: '', readOnly: false };
    await show(<SessionContext.Provider value={session}><Decide of={plan} decided={decided} /></SessionContext.Provider>);
    await press('Reject …');
    await submit();
    expect(fetched).not.toHaveBeenCalled();
    await type('input', 'in use');
    await submit();
    expect(fetched.mock.calls[0]![0]).toBe('/api/v1/plans/x-1/reject');
    expect(fetched.mock.calls[0]![1]!.body).toBe('{"hash":"h","reason":"in use","user":"ada"}');
    await vi.waitFor(() => expect(decided).toHaveBeenCalled());
    expect(root.textContent).toBe('You rejected the plan. Nothing is touched.');
    fetched.mockRestore();
  });
  it('shows what the server refuses', async () => {
    const fetched = answers(409, { error: 'ada has approved the plan already' });
    await show(<Decide of={plan} decided={() => {}} />);
    await press('Approve …');
    await submit();
    await vi.waitFor(() => expect(root.textContent).toContain('ada has approved the plan already'));
    await accessible();
    fetched.mockRestore();
  });
  it.each([
    ['Approved', 'Approved by ada at Thu, 1 Jan 2026'], ['Approved', 'carried out by run x-2'], ['Rejected', 'Rejected by ada'], ['Expired', 'Expired at Fri, 2 Jan 2026'], ['Superseded', 'Superseded'], ['PlanNotApproved', 'does not count'],
  ])('a plan that was %s says: %s', async (ended, text) => {
    await show(<EndNote of={{ ...plan, waits: false, ended, decidedBy: 'ada', decidedAt: '2026-01-01T12:00:00Z', expires: '2026-01-02T12:00:00Z', carriedOutBy: 'x-2' }} />);
    expect(root.textContent).toContain(text);
    expect(root.textContent).not.toContain('does not wait any more'); // the page's head says it
  });
  it('that has ended names once who decided, and why', async () => {
    const ended = { ...plan, waits: false, ended: 'Approved', decidedBy: 'ada', carriedOutBy: 'x-2', message: 'ada approved the plan (old); CleanerRun x-2 carries it out.' };
    await show(<EndNote of={{ ...ended, decidedWhy: 'old' }} />);
    expect(root.textContent).toBe('Approved by ada; carried out by run x-2.Reason: old');
    await show(<EndNote of={{ ...ended, decidedBy: undefined }} />);
    expect(root.textContent).toContain('ada approved the plan (old)');
  });
  it.each([[1, '1was to be deleted'], [2, '2were to be deleted']])('that has ended has the right number of %d', async (objects, text) => {
    await show(<LocationProvider><PlanContent of={{ ...plan, waits: false, ended: 'Expired', objects }} /></LocationProvider>);
    expect(root.querySelector('.tiles')!.textContent).toContain(text);
  });
  it('says how large the volumes are that it deletes', async () => {
    await show(<LocationProvider><PlanContent of={{ ...plan, volumeBytes: 5 * 2 ** 30 }} /></LocationProvider>);
    expect(root.querySelector('.tiles')!.textContent).toContain('5 GiBof volumes would be freed');
    await show(<LocationProvider><PlanContent of={plan} /></LocationProvider>);
    expect(root.querySelector('.tiles')!.textContent).not.toContain('of volumes');
  });
  it('says in the dialog what cannot be brought back', async () => {
    await show(<Decide of={{ ...plan, warnings: ['The data of its volume is deleted with a PersistentVolumeClaim.'] }} decided={() => {}} />);
    await press('Approve …');
    expect(root.querySelector('dialog')!.textContent).toContain('data of its volume is deleted');
  });
  it('names the missing right', async () => {
    await show(<Decide of={{ ...plan, decide: { allowed: false, missing: 'approve cleaners "x"' } }} decided={() => {}} />);
    await press('Approve …');
    expect(root.querySelector('dialog')).toBeNull();
    expect(root.textContent).toContain('Missing right: approve cleaners "x"');
    await accessible();
  });
});

describe('Toasts', () => {
  let say: ReturnType<typeof useSay>;
  let route: (url: string) => void;
  function Speaker() { say = useSay(); route = useLocation().route; return null; }
  const texts = () => [...root.querySelectorAll('.toast span')].map((each) => each.textContent);
  beforeEach(async () => { vi.useFakeTimers(); await show(<LocationProvider><Toasts><Speaker /></Toasts></LocationProvider>); });
  afterEach(() => { vi.useRealTimers(); });
  it('go after some seconds, errors stay until they are closed', async () => {
    await act(() => { say('done'); say(new Error('refused')); });
    expect(texts()).toEqual(['done', 'refused']);
    await act(() => { vi.advanceTimersByTime(8_000); });
    expect(texts()).toEqual(['refused']);
    await act(() => button('Close').click());
    expect(texts()).toEqual([]);
  });
  it('stay while somebody is at them', async () => {
    await act(() => say('done'));
    await act(() => { button('Close').dispatchEvent(new Event('focusin', { bubbles: true })); });
    await act(() => { vi.advanceTimersByTime(60_000); });
    expect(texts()).toEqual(['done']);
    await act(() => { button('Close').dispatchEvent(new Event('focusout', { bubbles: true })); });
    await act(() => { vi.advanceTimersByTime(8_000); });
    expect(texts()).toEqual([]);
  });
  it('go with the page, but not what is said of the next page', async () => {
    await act(() => say('done'));
    await act(() => { route('/runs'); say('made'); });
    expect(texts()).toEqual(['made']);
  });
});

describe('Failure', () => {
  it('names the right and no stack', async () => {
    await show(<Failure error={new ApiError(403, 'You may not list Cleaners.', 'list cleaners')} retry={() => {}} />);
    expect(root.textContent).toContain('Missing right: list cleaners');
    expect(root.querySelector('button')).toBeNull();
    await accessible();
  });
});

describe('Confirm', () => {
  it('leaves the focus on the heading when the button that opened it is gone', async () => {
    const Page = ({ asks, gone }: { asks: boolean; gone: boolean }) => (
      <><h1 tabIndex={-1}>Plan</h1>{!gone && <button>Reject</button>}{asks && <Confirm title="Reject?" confirm="Reject" onConfirm={vi.fn()} onClose={() => {}} />}</>
    );
    await show(<Page asks={false} gone={false} />);
    button('Reject').focus();
    await show(<Page asks gone={false} />);
    await show(<Page asks={false} gone />);
    await new Promise((done) => { setTimeout(done); });
    expect(document.activeElement!.tagName).toBe('H1');
  });
  it('asks for the name before it destroys', async () => {
    const confirm = vi.fn().mockResolvedValue(undefined);
    const close = vi.fn();
    await show(<Confirm title="Delete 74 objects?" confirm="Delete 74 objects" danger typed="old-volumes" onConfirm={confirm} onClose={close} />);
    await submit();
    expect(confirm).not.toHaveBeenCalled();
    await type('input', 'old-volume');
    await submit();
    expect(confirm).not.toHaveBeenCalled();
    await type('input', 'old-volumes');
    await submit();
    expect(confirm).toHaveBeenCalledOnce();
    expect(close).toHaveBeenCalledOnce();
  });
  it('asks for a reason, and stays open with the error', async () => {
    const confirm = vi.fn().mockRejectedValue(new ApiError(409, 'The plan is not the one that you saw.'));
    const close = vi.fn();
    await show(<Confirm title="Reject?" confirm="Reject" reason="required" onConfirm={confirm} onClose={close} />);
    await submit();
    expect(confirm).not.toHaveBeenCalled();
    await type('input', 'too many');
    await submit();
    expect(confirm).toHaveBeenCalledWith('too many');
    expect(close).not.toHaveBeenCalled();
    expect(root.querySelector('[role=alert]')!.textContent).toContain('not the one that you saw');
    await accessible();
  });
});

describe('Table', () => {
  const columns = [{ title: 'Name', sort: 'name', cell: (row: string) => row }, { title: 'Count', number: true, cell: () => 1 }];
  it('says how it is sorted, and turns the order round', async () => {
    const sort = vi.fn();
    await show(<Table caption="Things" columns={columns} rows={['a']} keyOf={(row) => row} sort="name" onSort={sort} />);
    expect(root.querySelector('th')!.getAttribute('aria-sort')).toBe('ascending');
    root.querySelector<HTMLButtonElement>('th button')!.click();
    expect(sort).toHaveBeenCalledWith('-name');
    await accessible();
  });
  it('pages to the end and no further', async () => {
    const offset = vi.fn();
    await show(<Pager what="things" offset={50} limit={50} total={75} onOffset={offset} />);
    expect(root.textContent).toContain('51–75 of 75 things');
    expect(button('Next').disabled).toBe(true);
    button('Previous').click();
    expect(offset).toHaveBeenCalledWith(0);
  });
});

describe('hostile names', () => {
  it('are text', async () => {
    const object = { kind: 'ConfigMap', namespace: 'shop', name: evil };
    await show(<><OutcomeTable caption="Objects" rows={[{ ...object, outcome: 'Failed', reason: evil, message: evil }]} /><UseGraph object={object} users={[{ kind: 'Pod', name: evil, path: evil }]} /></>);
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toContain(evil);
    expect(root.querySelector('a')!.getAttribute('href')).toBe(`/why?${new URLSearchParams({ object: `ConfigMap/shop/${evil}` })}`);
    await accessible();
  });
});

describe('the graph of who uses it', () => {
  it('keeps a name and its path in the box, and has the whole of both in the title', async () => {
    const name = 'checkout-with-a-very-long-name-8479dcc675-vwm9v';
    const path = 'spec.template.spec.containers[0].envFrom[0].configMapRef.name';
    await show(<UseGraph object={{ kind: 'ConfigMap', name: 'settings' }} users={[{ kind: 'Pod', namespace: 'shop', name, path }]} />);
    const box = root.querySelector('.graph rect')!.parentElement!;
    expect(box.querySelector('title')!.textContent).toBe(`Pod shop/${name} names it in ${path}`);
    const texts = [...box.querySelectorAll('svg text')].map((each) => each.textContent!);
    expect(texts).toEqual(['Pod in shop', 'checkout-with-a-v…8479dcc675-vwm9v', expect.stringMatching(/^….*configMapRef\.name$/)]);
    expect(root.querySelectorAll('.graph > g > text')).toHaveLength(0);
  });
  it.each([['short', 'short'], ['abcdefghijk', 'abcde…hijk']])('%s is %s', (text, want) => expect(cut(text, 10)).toBe(want));
});

describe('charts and stages', () => {
  it('have words beside the colours, and no inline style', async () => {
    await show(<><Bars what="Per day" bars={[{ label: '1 Nov', title: '1 Nov: 3 found, 2 acted on', found: 3, acted: 2 }]} />
      <Stages stages={[{ name: 'Waited in the queue', state: 'Done', time: '2026-11-25T12:30:00Z', tookSeconds: 0 }, { name: 'Read and judged', state: 'Active' }, { name: 'Acted', state: 'Pending' }]} /></>);
    expect(root.querySelector('svg')!.getAttribute('aria-label')).toBe('Per day: 3 found, 2 acted on');
    expect(root.textContent).toContain('going on');
    expect(root.querySelector('time')!.textContent).toMatch(/^\d\d:30:00$/);
    expect(root.textContent).toContain('done, took less than 1 s');
    expect(root.querySelector('[style]')).toBeNull();
    await accessible();
  });
  it.each([[0, 4], [3, 4], [7, 10], [11, 20], [412, 500]])('an axis for %d ends at %d', (max, top) => expect(nice(max)).toBe(top));
  it('counts what a plan matched in the run that carries it out, and distinguishes two runs of a day', () => {
    const run = { name: 'x', cleaner: 'x', trigger: 'Manual', action: 'Delete', phase: 'Completed', considered: 2, matched: 2, acted: 0, skipped: 0, failed: 0 };
    const bars = runBars([{ ...run, time: '2026-11-25T12:30:00Z', acted: 2 }, { ...run, time: '2026-11-25T12:10:00Z', carriedOutBy: 'x-2' }, { ...run, time: '2026-11-20T12:00:00Z' }]);
    expect(bars.map((bar) => bar.found)).toEqual([2, 0, 2]);
    expect(new Set(bars.map((bar) => bar.label)).size).toBe(3);
    expect(bars[0]!.label).toBe('20 Nov');
  });
  it('fills the days without a run', () => {
    const days = allDays([{ day: '2026-01-30', runs: 1, matched: 2, acted: 1, failed: 0 }], new Date('2026-01-31T12:00:00Z'));
    expect(days).toHaveLength(30);
    expect(days[28]!.matched).toBe(2);
    expect(days[29]).toEqual({ day: '2026-01-31', runs: 0, matched: 0, acted: 0, failed: 0 });
  });
});

describe('Compare', () => {
  it.each([
    [{ restores: true, after: 'a' }, 'A restore makes this:'],
    [{ restores: true, after: 'a', live: 'b' }, 'Lines with + come with a restore'],
    [{ restores: true, after: 'a', live: 'a' }, 'A restore would change nothing.'],
    [{ why: 'it is still there', after: 'a', live: 'a' }, 'A restore would not touch it: it is still there. It is as in the copy.'],
    [{ why: 'it is a token', after: 'a' }, 'A restore would not touch it: it is a token. It does not exist now. This is the copy:'],
  ])('%j', (of, text) => expect(compareText(of)).toContain(text));
});

describe('words', () => {
  it.each([[0, 'No kind is known that could name it.'], [1, 'The one kind that can name it was searched.'], [3, '3 kinds that can name it were searched.']])('of %d kinds', (n, text) => expect(searchedText(n)).toBe(text));
  it('asks for no name where a person must approve anyway', () => {
    expect(needsApproval({ guardrails: [{ field: 'spec.approval', text: '' }] } as never)).toBe(true);
    expect(needsApproval({ guardrails: [] } as never)).toBe(false);
  });
});
