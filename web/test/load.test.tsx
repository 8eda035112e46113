// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Events, events } from '../src/lib/events';
import { useLoad } from '../src/lib/hooks';

let root: HTMLElement;
beforeEach(() => { root = document.createElement('main'); document.body.replaceChildren(root); vi.useFakeTimers(); });
afterEach(() => { render(null, root); vi.useRealTimers(); });

function Loads({ path }: { path: string }) {
  const { data, loading } = useLoad<string>(path);
  return <p>{loading ? 'loading' : data}</p>;
}

const change = () => act(() => { events.notify(); vi.advanceTimersByTime(500); });

it('lets a read end that takes longer than the next change, and then reads once more', async () => {
  const answers: ((text: string) => void)[] = [];
  const signals: AbortSignal[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation((_, options) => {
    signals.push(options!.signal!);
    return new Promise((done) => { answers.push((text) => done(new Response(JSON.stringify(text)))); });
  });
  await act(() => render(<Loads path="summary" />, root));
  for (let i = 0; i < 3; i++) await change();
  expect(answers.length).toBe(1);
  expect(signals[0]!.aborted).toBe(false);
  await act(async () => { answers[0]!('first'); await vi.advanceTimersByTimeAsync(0); });
  expect(root.textContent).toBe('first');
  expect(answers.length).toBe(2);
  await act(() => render(<Loads path="runs" />, root));
  expect(signals[1]!.aborted).toBe(true); // nobody waits for it any more
  await act(async () => { answers[1]!('too late'); answers[2]!('runs'); await vi.advanceTimersByTimeAsync(0); });
  expect(root.textContent).toBe('runs');
  expect(answers.length).toBe(3);
});

describe('the stream of events', () => {
  class Source extends EventTarget {
    static last: Source;
    onopen?: () => void;
    onerror?: (event: Event) => void;
    constructor() { super(); Source.last = this; }
    close() {}
    send(name: string, data: object) {
      const event = new MessageEvent(name, { data: JSON.stringify(data) });
      if (name === 'error') this.onerror!(event); else this.dispatchEvent(event);
    }
  }
  it('polls for as long as one of the watches is lost', () => {
    vi.stubGlobal('EventSource', Source);
    const stream = new Events('/api/v1/events');
    const heard = vi.fn();
    stream.subscribe(heard);
    stream.start();
    const source = Source.last;
    source.onopen!();
    expect(stream.live).toBe(true);
    source.send('error', { type: 'ERROR', name: 'runs' });
    source.send('cleaners', { type: 'RESET' });
    expect(stream.live).toBe(false);
    heard.mockClear();
    vi.advanceTimersByTime(10_000);
    expect(heard).toHaveBeenCalledOnce();
    source.send('runs', { type: 'RESET' });
    expect(stream.live).toBe(true);
    heard.mockClear();
    vi.advanceTimersByTime(60_000);
    expect(heard).not.toHaveBeenCalled();
    stream.stop();
    vi.unstubAllGlobals();
  });
});
