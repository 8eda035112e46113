// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { events } from '../src/lib/events';
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
