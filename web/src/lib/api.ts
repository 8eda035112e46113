// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

import { keyHeader } from './key';

/** ApiError is an answer of the server that is not 2xx, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly missing = '', readonly hint = '') {
    super(message);
  }
}

const prefix = '/api/v1/';

/** onSignedOut is called when the server no longer knows who the person is. */
let onSignedOut = () => {};
export function whenSignedOut(call: () => void) { onSignedOut = call; }

async function request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...keyHeader() };
  // The server takes writes with a JSON body only: a form of another site cannot send one.
  if (method !== 'GET') headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(path.startsWith('/') ? path : prefix + path, {
      method, headers, signal, credentials: 'same-origin', cache: 'no-store',
      body: method === 'GET' ? undefined : JSON.stringify(body ?? {}),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, 'The server does not answer. It may have been stopped.');
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response: Response): Promise<ApiError> {
  let answer: { error?: string; missing?: string; hint?: string } = {};
  try { answer = await response.json(); } catch { /* a proxy answered, not in JSON */ }
  // The login says itself that a token is wrong; config and whoami are what is asked then.
  if (response.status === 401 && !/\/(login|config|whoami)$/.test(response.url)) onSignedOut();
  return new ApiError(response.status, answer.error || `The server answered ${response.status}.`, answer.missing, answer.hint);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request('GET', path, undefined, signal)).json();
}

export async function send<T = void>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const text = await (await request(method, path, body)).text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** stream sends a request and calls each for every event of the answer, a text/event-stream, as it comes. */
export async function stream(path: string, body: unknown, each: (event: string, data: string) => void, signal: AbortSignal) {
  const reader = (await request('POST', path, body, signal)).body!.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const blocks = rest.replace(/\r\n/g, '\n').split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) deliver(block, each);
    if (done) return;
  }
}

function deliver(block: string, each: (event: string, data: string) => void) {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  if (data.length > 0) each(event, data.join('\n'));
}

/** query builds ?a=b from what has a value. */
export function query(values: Record<string, string | number | boolean | undefined>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== '' && value !== false) params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

/** segment makes a name safe as one part of a path. */
export const segment = encodeURIComponent;
