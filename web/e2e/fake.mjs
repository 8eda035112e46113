// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// A server with made-up answers and the headers of the real one, for the browser tests.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import * as fixtures from './fixtures.mjs';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
export const csp = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/** start serves dist and the fixtures on a free port; state is what tests look at and change. */
export async function start(dist, port = 0) {
  const state = { writes: [], signedIn: true, empty: false, forbidden: new Set(), streams: new Set() };
  const server = createServer((request, response) => handle(state, dist, request, response).catch((error) => {
    response.writeHead(500).end(String(error.stack));
  }));
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, state, close: () => { server.closeAllConnections(); server.close(); } };
}

async function handle(state, dist, request, response) {
  const url = new URL(request.url, 'http://localhost');
  response.setHeader('Content-Security-Policy', csp);
  const isApi = url.pathname.startsWith('/api/v1/');
  if (!isApi && request.method === 'GET') return file(dist, url.pathname, response);
  const path = url.pathname.slice(isApi ? '/api/v1/'.length : 1).split('/').map(decodeURIComponent);
  const json = (body, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'GET') return write(state, path, request, body && JSON.parse(body), response, json, url.search);
  if (state.proxy) return json({ error: 'the session has ended' }, 401);
  if (path[0] === 'config') return json({ ...fixtures.config, mode: state.mode ?? 'Token', loggedIn: state.signedIn || Boolean(state.expired) });
  if (!state.signedIn) return json({ error: 'sign in first' }, 401);
  if (state.forbidden.has(path[0])) return json({ error: `You may not see ${path[0]}.`, missing: `list ${path[0]} (apps.projectsveltos.io)` }, 403);
  if (path[0] === 'events') return events(state, response);
  const answer = read(state, path, url.searchParams);
  return answer ? json(answer) : json({ error: `There is no ${path.join(' ')}.` }, 404);
}

function events(state, response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write(': heartbeat\n\n');
  state.streams.add(response);
  response.on('close', () => state.streams.delete(response));
}

function file(dist, path, response) {
  const name = extname(path) ? normalize(path) : '/index.html';
  try {
    const data = readFileSync(join(dist, name));
    response.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream' }).end(data);
  } catch { response.writeHead(404).end(); }
}

function page(items, params) {
  const offset = Number(params.get('offset')) || 0;
  const limit = Number(params.get('limit')) || 50;
  return { items: items.slice(offset, offset + limit), total: items.length, offset, limit };
}

function read(state, path, params) {
  const [what, name, part] = path;
  const has = (text) => !params.get('q') || text.toLowerCase().includes(params.get('q').toLowerCase());
  const run = fixtures.runs.find((each) => each.name === name);
  switch (what) {
    case 'whoami': return fixtures.whoami;
    case 'summary': return state.empty ? { ...fixtures.summary, totalCleaners: 0, attention: null } : fixtures.summary;
    case 'access': return fixtures.access;
    case 'channels': return page(fixtures.cleaners.slice(0, 3).flatMap((each) => fixtures.channels(each.name)), params);
    case 'doctor': return { checks: fixtures.checks };
    case 'activity': return { ...page(state.empty ? [] : fixtures.activity(params), params), missing: fixtures.activityMissing };
    case 'loss': return { warnings: params.get('kind') === 'Pod' ? ['No copy is kept of Pod objects that a controller manages.'] : [] };
    case 'why': return fixtures.why(params.get('object'));
    case 'findings': return findings(state, params, has);
    case 'cleaners': {
      if (name) { const found = fixtures.cleaners.find((c) => c.name === name); return found && fixtures.cleanerDetail(found); }
      return cleaners(state, params, has);
    }
    case 'plans': return name ? fixtures.plans.find((plan) => plan.run === name) : page(state.empty ? [] : fixtures.plans, params);
    case 'runs': return name ? ofRun(name, run, part, params, has) : page(state.empty ? [] : fixtures.runs.filter((r) => has(r.name)), params);
    default: return undefined;
  }
}

function ofRun(name, run, part, params, has) {
  const plan = fixtures.plans.find((each) => each.run === name);
  if (!plan) return run && runPart(run, part, params, has);
  return part === 'outcomes' ? page(fixtures.planned[plan.action].filter((o) => has(o.name)), params) : undefined;
}

function runPart(run, part, params, has) {
  switch (part) {
    case 'outcomes': return page(fixtures.outcomes.filter((o) => has(o.name + o.reason) && (!params.get('outcome') || o.outcome === params.get('outcome'))), params);
    case 'diff': return fixtures.diff;
    case 'restore': return { run: run.name, cleaner: run.cleaner, dryRun: true, objects: fixtures.restored };
    case 'copy': return { restores: true, leftOut: ['metadata.finalizers', 'status'], after: 'kind: ConfigMap\ndata:\n  color: red\n', live: params.get('object').endsWith('theme-2023') ? 'kind: ConfigMap\ndata:\n  color: teal\n' : '' };
    default: return fixtures.runDetail(run);
  }
}

function cleaners(state, params, has) {
  const items = state.empty ? [] : fixtures.cleaners.filter((c) => has(c.name) && (!params.get('action') || c.action === params.get('action')));
  const sort = params.get('sort');
  if (sort) items.sort((a, b) => String(a[sort.replace('-', '')] ?? '').localeCompare(String(b[sort.replace('-', '')] ?? '')) * (sort[0] === '-' ? -1 : 1));
  return page(items, params);
}

function findings(state, params, has) {
  const items = state.empty ? [] : fixtures.findings.filter((f) => has(f.name + f.reason)
    && ['kind', 'namespace', 'type'].every((key) => !params.get(key) || f[key] === params.get(key)));
  const groups = new Map();
  for (const f of items) {
    const key = f[params.get('group')] ?? '';
    const group = groups.get(key) ?? { key, count: 0, frees: { volumeBytes: 0 } };
    group.count++;
    group.frees.volumeBytes += f.frees?.volumeBytes ?? 0;
    groups.set(key, group);
  }
  return {
    ...page(items, params), groups: [...groups.values()], unknown: 1, unread: state.empty ? null : fixtures.unread, objects: 4211, kinds: 34,
    frees: { volumeBytes: items.reduce((sum, f) => sum + (f.frees?.volumeBytes ?? 0), 0) }, notCounted: { 'managed by Helm': 9 }, scanned: fixtures.at(-1),
  };
}

async function write(state, path, request, body, response, json, search) {
  if (request.headers['content-type'] !== 'application/json') return json({ error: 'Content-Type must be application/json' }, 415);
  state.writes.push({ method: request.method, path: path.join('/') + search, body });
  if (path[0] === 'login') {
    if (body.token !== 'good-token') return json({ error: 'The API server does not know this token.' }, 401);
    state.signedIn = true;
    return response.writeHead(204).end();
  }
  if (path[0] === 'logout') { state.signedIn = false; return response.writeHead(204).end(); }
  if (path[0] === 'preview') return preview(response);
  if (path[0] === 'cleaners' && path.length === 1) {
    const name = /name: (\S+)/.exec(body.yaml)[1];
    fixtures.cleaners.push({ ...fixtures.cleaners[5], name, suspended: false, state: 'Ready' });
    return json({ name, resourceVersion: '1' }, 201);
  }
  if (path[2] === 'restore') return json({ run: path[1], objects: fixtures.restored.filter((o) => body.only.includes(`${o.kind}./${o.namespace}/${o.name}`)).map((o) => ({ ...o, outcome: 'Restored' })) });
  if (path[2] === 'notify-test') return json({ ok: true, output: 'ops: delivered' });
  return json({ name: path[1], message: '' }, 202);
}

async function preview(response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const text of ['listing configmaps 100', 'listing configmaps 214']) {
    response.write(`event: progress\ndata: ${JSON.stringify({ text })}\n\n`);
    await new Promise((done) => setTimeout(done, 30));
  }
  const objects = fixtures.outcomes.slice(0, 5).map((o) => ({ ...o, outcome: 'Matched' }));
  response.end(`event: result\ndata: ${JSON.stringify({ cleaners: [{ cleaner: 'x', action: 'Scan', considered: 214, matched: 5, wouldAct: 0, leftAlone: 0, failed: 0, objects }] })}\n\n`);
}

if (process.argv[1] === new URL(import.meta.url).pathname) console.log((await start(join(import.meta.dirname, '../dist'), 8787)).url);
