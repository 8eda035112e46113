// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { get } from './api';
import { events } from './events';

export interface Loaded<T> {
  data?: T;
  error?: Error;
  /** loading is true while there is nothing to show yet, or what is shown is of another address. */
  loading: boolean;
  reload: () => void;
}

// The server gives up after ten minutes. A connection that died without a word must not keep later reads waiting for ever.
const longestRead = 11 * 60_000;

/** useLoad reads path, and reads it again after an event. What was read stays until the new answer is there. */
export function useLoad<T>(path: string | undefined, live = true): Loaded<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: Error }>({});
  const read = useRef(() => {});
  const reload = useCallback(() => read.current(), []);
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    let reading = false;
    let again = false;
    // A read that goes on is not aborted: where events come faster than answers, none would ever arrive.
    read.current = async () => {
      again = reading;
      if (reading) return;
      reading = true;
      await get<T>(path, AbortSignal.any([abort.signal, AbortSignal.timeout(longestRead)])).then(
        (data) => { if (!abort.signal.aborted) setState({ path, data }); },
        (error: Error) => {
          // One failed refresh does not take away what the person reads; a page that never loaded says what is wrong.
          if (!abort.signal.aborted) setState((old) => (old.path === path ? { ...old, error } : { path, error }));
        },
      );
      reading = false;
      if (again && !abort.signal.aborted) read.current();
    };
    read.current();
    return () => { read.current = () => {}; abort.abort(); };
  }, [path]);
  useEffect(() => {
    if (!live) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A run writes many events: one read for all that come within half a second.
    const unsubscribe = events.subscribe(() => { timer ??= setTimeout(() => { timer = undefined; reload(); }, 500); });
    return () => { unsubscribe(); clearTimeout(timer); };
  }, [live, reload]);
  const current = state.path === path;
  return { data: state.data, error: current ? state.error : undefined, loading: !current && path !== undefined, reload };
}

let clock: ReturnType<typeof setInterval> | undefined;
const clockListeners = new Set<() => void>();

/** useNow renders again every 15 seconds: one timer for all relative times of the page. */
export function useNow(): number {
  const [, tick] = useState(0);
  useEffect(() => {
    const listener = () => tick((n) => n + 1);
    clockListeners.add(listener);
    clock ??= setInterval(() => { for (const each of clockListeners) each(); }, 15_000);
    return () => {
      clockListeners.delete(listener);
      if (clockListeners.size === 0) { clearInterval(clock); clock = undefined; }
    };
  }, []);
  return Date.now();
}

type Change = (changes: Record<string, string | undefined>, push?: boolean) => void;

/** useParams reads the address's query and writes it back: what a person filters can be sent to a colleague. turn goes to another page of a list. */
export function useParams(): [Record<string, string>, Change, turn: (offset: number, push: boolean) => void] {
  const { query, path, route } = useLocation();
  const change: Change = (changes, push = false) => {
    const params = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      if (value) params.set(key, value); else params.delete(key);
    }
    const text = params.toString();
    route(text ? `${path}?${text}` : path, !push);
  };
  return [query, change, (offset, push) => change({ offset: String(offset || '') }, push)];
}

export function useTitle(title: string) {
  useEffect(() => { document.title = title ? `${title} · KubeCleaner` : 'KubeCleaner'; }, [title]);
}

/** useDebounced calls after the person stopped typing. */
export function useDebounced(call: (value: string) => void, wait = 300): (value: string) => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback((value: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(value), wait);
  }, [wait]);
}
