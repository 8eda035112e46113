// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it, vi } from 'vitest';
import { ApiError, get, query, send, stream, whenSignedOut } from '../src/lib/api';
import { diff } from '../src/lib/diff';
import { takeKey, withKey } from '../src/lib/key';
import { cleanerOf, nameOf, splitVersion, yaml } from '../src/lib/make';
import { exact, readable, relative, seconds } from '../src/lib/time';
import { bytes, count, mergeChecks, roleOf, tone, freedText, freesText, plural, unreadText } from '../src/lib/words';

const answer = (body: unknown, status = 200) => vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(JSON.stringify(body), { status }));

describe('api', () => {
  it('names the right that is missing', async () => {
    answer({ error: 'You may not list Cleaners.', missing: 'list cleaners.apps.projectsveltos.io' }, 403);
    const error = await get('cleaners').catch((cause: ApiError) => cause) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error.missing).toBe('list cleaners.apps.projectsveltos.io');
  });
  it('sends writes as JSON, also without a body', async () => {
    const fetched = answer({});
    await send('POST', 'cleaners/a/trigger');
    expect(fetched.mock.calls[0]![0]).toBe('/api/v1/cleaners/a/trigger');
    expect(fetched.mock.calls[0]![1]).toMatchObject({ method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
  });
  it('keeps the key of its address for this port, and shows it to its own server only', async () => {
    history.replaceState(null, '', '/runs?waiting=true#key=ABC234');
    takeKey();
    expect(location.hash).toBe('');
    expect(location.search).toBe('?waiting=true');
    expect(localStorage.getItem('kubecleaner-key')).toBe('ABC234');
    expect(withKey('/api/v1/events')).toBe('/api/v1/events?key=ABC234');
    const fetched = answer({});
    await get('cleaners');
    expect(fetched.mock.calls[0]![1]).toMatchObject({ headers: { 'X-Kubecleaner-Key': 'ABC234' } });
    localStorage.clear();
    takeKey();
    expect(withKey('/api/v1/events')).toBe('/api/v1/events');
  });
  it('keeps its key when the address of another page has one that opens nothing', async () => {
    localStorage.setItem('kubecleaner-key', 'RIGHT2');
    for (const [loggedIn, kept] of [[false, 'RIGHT2'], [true, 'OTHER2']] as const) {
      history.replaceState(null, '', '/#key=OTHER2');
      const fetched = answer({ loggedIn });
      await takeKey();
      expect(fetched.mock.calls[0]![1]).toMatchObject({ headers: { 'X-Kubecleaner-Key': 'OTHER2' } });
      expect(location.hash).toBe('');
      expect(localStorage.getItem('kubecleaner-key')).toBe(kept);
      expect(withKey('/')).toBe(`/?key=${kept}`);
      fetched.mockRestore();
    }
    localStorage.clear();
    await takeKey();
  });
  it('says when the person is signed out', async () => {
    const signedOut = vi.fn();
    whenSignedOut(signedOut);
    answer({ error: 'no' }, 401);
    await get('whoami').catch(() => {});
    expect(signedOut).toHaveBeenCalledOnce();
    signedOut.mockClear();
    const refused = new Response('{}', { status: 401 });
    Object.defineProperty(refused, 'url', { value: 'https://cleaner.example.com/api/v1/config' });
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(refused);
    await get('config').catch(() => {});
    expect(signedOut).not.toHaveBeenCalled(); // it would ask for config again, for ever
  });
  it('says in words that there is no server', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Failed to fetch'));
    await expect(get('whoami')).rejects.toThrow('The server does not answer');
  });
  it('reads events that are cut anywhere', async () => {
    const text = 'event: progress\ndata: {"text":"ü"}\n\n: heartbeat\n\nevent: result\ndata: {}\n\n';
    const all = new TextEncoder().encode(text);
    const body = new ReadableStream({ start(c) { for (const byte of all) c.enqueue(Uint8Array.of(byte)); c.close(); } });
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(body));
    const seen: string[] = [];
    await stream('preview', {}, (event, data) => seen.push(`${event} ${data}`), new AbortController().signal);
    expect(seen).toEqual(['progress {"text":"ü"}', 'result {}']);
  });
  it('leaves out what has no value', () => expect(query({ a: '', b: 0, c: 'x y', d: undefined, e: false })).toBe('?b=0&c=x+y'));
});

describe('words', () => {
  it.each([[0, '0 B'], [1023, '1023 B'], [1536, '1.5 KiB'], [20 * 2 ** 30, '20 GiB']])('%d bytes are %s', (n, text) => expect(bytes(n)).toBe(text));
  it('counts', () => { expect(count(12345)).toBe('12,345'); expect(plural(1, 'object')).toBe('1 object'); expect(plural(0, 'object')).toBe('0 objects'); });
  it('says what was freed', () => { expect(freedText(2 ** 31)).toBe(', 2 GiB freed'); expect(freedText(undefined)).toBe(''); });
  it('says what is freed', () => { expect(freesText({ volumeBytes: 2 ** 30, loadBalancers: 1 })).toBe('1 GiB, 1 load balancer'); expect(freesText(undefined)).toBe(''); });
  it('names the right to read a kind', () => {
    expect(unreadText({ kind: 'Job', group: 'batch', resource: 'jobs', forbidden: true })).toBe('Job: missing right: list jobs.batch in all namespaces');
    expect(unreadText({ kind: 'ConfigMap', resource: 'configmaps', namespace: 'ops', name: 'references', forbidden: true }))
      .toBe('References declared in ConfigMap ops/references: missing right: get configmaps "references" in ops');
  });
});

describe('tones', () => {
  it.each([['Unhealthy', 'bad'], ['Unknown', 'plain'], ['Unused', 'warn']])('%s is %s', (word, want) => expect(tone(word)).toBe(want));
});

describe('rights', () => {
  it.each([
    ['list cleaners.apps.projectsveltos.io', 'ClusterRole *-cleaner-viewer-role'], ['patch cleaners.apps.projectsveltos.io "x"', 'ClusterRole *-cleaner-editor-role'],
    ['approve cleaners.apps.projectsveltos.io "x"', 'ClusterRole *-approver-role'], ['create cleanerapprovals.apps.projectsveltos.io', 'ClusterRole *-approver-role'],
    ['get secrets in namespace projectsveltos', 'Role *-cleaner-restore-role in namespace projectsveltos'], ['list pods', 'ClusterRole *-scan'], ['list events in namespace default', 'ClusterRole view'], ['list pods in namespace shop', ''], ['not known: timeout', ''],
  ])('%s is in %s', (right, role) => expect(roleOf(right)).toBe(role));
  it('says one cause once', () => {
    const line = (check: string, before: string) => ({ status: 'UNKNOWN' as const, check, message: `${before}: cleaners.apps.projectsveltos.io is forbidden: User "bob" cannot list resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope` });
    const merged = mergeChecks([line('cleaners', 'the Cleaners could not be read'), line('runs', 'the Cleaners could not be read'), line('k8s-cleaner', 'whether it runs'), { status: 'OK', check: 'clock', message: 'fine' }]);
    expect(merged.map((each) => [each.check, each.right])).toEqual([['cleaners, runs, k8s-cleaner', 'list cleaners.apps.projectsveltos.io'], ['clock', '']]);
  });
});

describe('time', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  it.each([['2026-01-01T23:59:58Z', 'just now'], ['2026-01-02T00:05:00Z', 'in 5 minutes'], ['2025-12-30T00:00:00Z', '3 days ago'], ['nonsense', '–']])('%s is %s', (at, text) => {
    expect(relative(at, now)).toBe(text);
  });
  it.each([
    ['2026-11-26T12:59:59', 'just now'], ['2026-11-26T13:00:59', 'in 59 seconds'], ['2026-11-26T13:59:45', 'in 1 hour'],
    ['2026-11-26T14:29:00', 'in 1 hour'], ['2026-11-26T14:31:00', 'in 2 hours'], ['2026-11-26T23:00:00', 'in 10 hours'],
    ['2026-11-27T12:59:55', 'tomorrow'], ['2026-11-28T03:00:00', 'in 2 days'], ['2026-11-29T03:00:00', 'in 3 days'],
    ['2026-11-29T12:59:55', 'in 3 days'], ['2026-12-03T12:59:55', 'in 7 days'], ['2026-11-25T01:00:00', 'yesterday'],
    ['2026-11-24T23:00:00', '2 days ago'], ['2026-12-31T13:00:00', 'in 1 month'], ['2027-11-26T12:00:00', 'in 1 year'],
  ])('on the 26th at 13:00, %s is %s', (at, text) => expect(relative(at, Date.parse('2026-11-26T13:00:00'))).toBe(text));
  it('says no day that the calendar does not say', () => expect(relative('2026-11-26T23:50:00', Date.parse('2026-11-26T00:10:00'))).toBe('in 24 hours'));
  it.each([[0.44, '0.4 s'], [59.6, '1 min'], [125, '2 min 5 s'], [7260, '2 h 1 min'], [90000, '1 d 1 h']])('%d seconds are %s', (n, text) => expect(seconds(n)).toBe(text));
});

describe('readable', () => {
  const at = '2026-11-28T21:48:41Z';
  it('writes local times', () => expect(readable(`a plan waits until ${at}.`)).toBe(`a plan waits until ${exact(at)}.`));
  it.each([['168h0m0s', '7 days'], ['24h0m0s', '1 day'], ['36h0m0s', '36 hours'], ['5m0s', '5 minutes'], ['1h2m5s', '1 h 2 min'], ['10m', '10m'], ['shop/web-1h2m0s', 'shop/web-1h2m0s']])('%s is %s', (text, want) => expect(readable(text)).toBe(want));
  it('leaves the rest', () => expect(readable(undefined)).toBe(''));
});

describe('diff', () => {
  it('marks what comes back and what is there now', () => {
    expect(diff('a\nb\nc', 'a\nx\nc')).toEqual([{ mark: ' ', text: 'a' }, { mark: '-', text: 'b' }, { mark: '+', text: 'x' }, { mark: ' ', text: 'c' }]);
  });
});

describe('make', () => {
  const wish = { name: 'x', group: 'batch', version: 'v1', kind: 'Job', namespace: 'true', type: 'Finished', forDays: 1, schedule: '0 3 * * *', action: 'Delete', maxCount: 5, approval: true };
  it('limits what deletes', () => expect(cleanerOf(wish).spec).toMatchObject({ blastRadiusLimit: { maxCount: 5 }, approval: { mode: 'Required' } }));
  it('asks nobody when nobody is to be asked', () => expect(cleanerOf({ ...wish, approval: false }).spec).not.toHaveProperty('approval'));
  it('needs no limit to report', () => expect(cleanerOf({ ...wish, action: 'Scan' }).spec).not.toHaveProperty('blastRadiusLimit'));
  it('needs no approval to report', () => expect(cleanerOf({ ...wish, action: 'Scan' }).spec).not.toHaveProperty('approval'));
  it('quotes what YAML would read as something else', () => {
    const text = yaml(cleanerOf({ ...wish, name: 'x\n  evil: y' }));
    expect(text).toContain('namespace: "true"');
    expect(text).toContain('name: "x\\n  evil: y"');
    expect(text).toContain('      - group: batch\n        version: v1\n'.replace(/^ {2}/gm, ''));
  });
  it('splits versions and proposes names', () => {
    expect(splitVersion('apps/v1')).toEqual({ group: 'apps', version: 'v1' });
    expect(splitVersion('v1')).toEqual({ group: '', version: 'v1' });
    expect(nameOf('Unused', 'NetworkPolicy', 'shop')).toBe('unused-networkpolicies-shop');
  });
});
