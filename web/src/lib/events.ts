// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

import { withKey } from './key';

type Listener = () => void;

const pollEvery = 10_000;

/** Events notifies its listeners of each change: by the server's stream, or every ten seconds without one. */
export class Events {
  private listeners = new Set<Listener>();
  private stateListeners = new Set<Listener>();
  private source: EventSource | undefined;
  private poll: ReturnType<typeof setInterval> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  /** lost are the kinds that the server does not watch at present. */
  private lost = new Set<string>();
  live = false;

  constructor(private readonly url: string) {}

  start() {
    if (typeof EventSource === 'undefined') return this.fallBack();
    this.source = new EventSource(withKey(this.url));
    this.source.onopen = () => { this.lost.clear(); this.alive(); };
    this.source.onerror = (event) => this.failed(event);
    for (const name of ['cleaners', 'runs']) this.source.addEventListener(name, () => { this.lost.delete(name); this.alive(); this.notify(); });
  }

  stop() {
    this.source?.close();
    clearInterval(this.poll);
    clearTimeout(this.retry);
    this.poll = this.source = undefined;
    this.live = false;
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  }

  onState(listener: Listener): () => void {
    this.stateListeners.add(listener);
    return () => { this.stateListeners.delete(listener); };
  }

  notify() { for (const listener of [...this.listeners]) listener(); }

  private alive() {
    if (this.lost.size > 0) return;
    const missed = !this.live && this.poll !== undefined;
    clearInterval(this.poll);
    this.poll = undefined;
    this.setLive(true);
    if (missed) this.notify();
  }

  /** The server's own event is called error too: it has data, and says what is not watched. */
  private failed(event: Event) {
    if ('data' in event && event.data) {
      this.lost.add(JSON.parse(String(event.data)).name);
      return this.fallBack();
    }
    if (this.source?.readyState === EventSource.CLOSED) this.reconnectLater();
    else this.fallBack(); // the browser connects again by itself
  }

  private reconnectLater() {
    this.fallBack();
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.start(), pollEvery);
  }

  private fallBack() {
    this.setLive(false);
    this.poll ??= setInterval(() => { if (!document.hidden) this.notify(); }, pollEvery);
  }

  private setLive(live: boolean) {
    if (this.live === live) return;
    this.live = live;
    for (const listener of [...this.stateListeners]) listener();
  }
}

export const events = new Events('/api/v1/events');
