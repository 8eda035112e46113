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
  if (!url.pathname.startsWith('/api/v1/')) return file(dist, url.pathname, response);
  const path = url.pathname.slice('/api/v1/'.length).split('/').map(decodeURIComponent);
  const json = (body, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'GET') return write(state, path, request, body && JSON.parse(body), response, json);
  if (!state.signedIn) return json({ error: 'sign in first' }, 401);
  if (state.forbidden.has(path[0])) return json({ error: `You may not see ${path[0]}.`, missing: `list ${path[0]} (apps.projectsveltos.io)` }, 403);
  if (path[0] === 'events') return events(state, response);
  const answer = read(state, path, url.searchParams);
  return answer ? json(answer) : json({ error: `There is no ${path.join(' ')}.` }, 404);
}

function events(state, response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write('event: heartbeat\ndata: {}\n\n');
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
  const has = (text) => !params.get('search') || text.toLowerCase().includes(params.get('search').toLowerCase());
  const run = what === 'runs' && fixtures.runs.find((each) => each.name === name);
  switch (what) {
    case 'session': return { ...fixtures.session, waiting: state.empty ? 0 : 1 };
    case 'overview': return state.empty ? { ...fixtures.overview, cleaners: 0 } : fixtures.overview;
    case 'access': return fixtures.access;
    case 'plans': return page(state.empty ? [] : fixtures.plans.filter((p) => !params.get('state') || p.state === params.get('state')), params);
    case 'why': return fixtures.why(Object.fromEntries(params));
    case 'findings': return findings(state, params, has);
    case 'cleaners': {
      if (name === 'permissions') return { create: { allowed: true } };
      if (name) { const found = fixtures.cleaners.find((c) => c.name === name); return found && fixtures.cleanerDetail(found); }
      return cleaners(state, params, has);
    }
    case 'runs': {
      if (!run) return undefined;
      if (part === 'outcomes') return page(fixtures.outcomes.filter((o) => has(o.name + o.reason) && (!params.get('outcome') || o.outcome === params.get('outcome'))), params);
      if (part === 'copies') return page(fixtures.copies.filter((o) => has(o.name)), params);
      return fixtures.runDetail(run);
    }
    default: return undefined;
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
    const key = f[params.get('by')] ?? '';
    const group = groups.get(key) ?? { name: key, count: 0, freesBytes: 0 };
    group.count++; group.freesBytes += f.freesBytes ?? 0;
    groups.set(key, group);
  }
  return { ...page(items, params), groups: [...groups.values()], freesBytes: items.reduce((sum, f) => sum + (f.freesBytes ?? 0), 0),
    unreadable: state.empty ? [] : [{ kind: 'Secret', missing: 'list secrets', effect: 'Nothing that a Secret may name is called unused.' }] };
}

async function write(state, path, request, body, response, json) {
  if (request.headers['content-type'] !== 'application/json') return json({ error: 'Content-Type must be application/json' }, 415);
  state.writes.push({ method: request.method, path: path.join('/'), body });
  if (path[0] === 'login') {
    if (body.token !== 'good-token') return json({ error: 'The API server does not know this token.' }, 401);
    state.signedIn = true;
    return json({});
  }
  if (path[0] === 'logout') { state.signedIn = false; return json({}); }
  if (path[0] === 'preview') {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    for (const o of fixtures.outcomes.slice(0, 5)) {
      response.write(`${JSON.stringify({ match: { ...o, outcome: 'Matched' } })}\n`);
      await new Promise((done) => setTimeout(done, 20));
    }
    return response.end(`${JSON.stringify({ done: { considered: 214, matched: 5 } })}\n`);
  }
  if (path[0] === 'cleaners' && path.length === 1) { fixtures.cleaners.push({ ...fixtures.cleaners[5], name: body.metadata.name, suspended: false }); return json({}, 201); }
  if (path[2] === 'restore') return json({ items: body.objects.map((o) => ({ ...o, outcome: body.dryRun ? 'Planned' : 'Restored', message: '' })) });
  return json({}, 202);
}

if (process.argv[1] === new URL(import.meta.url).pathname) console.log((await start(join(import.meta.dirname, '../dist'), 8787)).url);
