// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

type Listener = () => void;

const pollEvery = 10_000;
const silence = 45_000; // three heartbeats of the server

/** Events tells its listeners that something changed: by the server's stream, or every ten seconds without one. */
export class Events {
  private listeners = new Set<Listener>();
  private stateListeners = new Set<Listener>();
  private source: EventSource | undefined;
  private poll: ReturnType<typeof setInterval> | undefined;
  private watchdog: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  live = false;

  constructor(private readonly url: string) {}

  start() {
    if (typeof EventSource === 'undefined') return this.fallBack();
    this.source = new EventSource(this.url);
    this.source.onopen = () => this.alive();
    this.source.onerror = () => { if (this.source?.readyState === EventSource.CLOSED) this.reconnectLater(); else this.fallBack(); };
    this.source.onmessage = () => { this.alive(); this.tell(); };
    this.source.addEventListener('change', () => { this.alive(); this.tell(); });
    this.source.addEventListener('heartbeat', () => this.alive());
  }

  stop() {
    this.source?.close();
    clearInterval(this.poll);
    clearTimeout(this.watchdog);
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

  tell() { for (const listener of [...this.listeners]) listener(); }

  private alive() {
    const missed = !this.live && this.poll !== undefined;
    clearInterval(this.poll);
    this.poll = undefined;
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => { this.source?.close(); this.reconnectLater(); }, silence);
    this.setLive(true);
    if (missed) this.tell();
  }

  private reconnectLater() {
    this.fallBack();
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.start(), pollEvery);
  }

  private fallBack() {
    this.setLive(false);
    this.poll ??= setInterval(() => { if (!document.hidden) this.tell(); }, pollEvery);
  }

  private setLive(live: boolean) {
    if (this.live === live) return;
    this.live = live;
    for (const listener of [...this.stateListeners]) listener();
  }
}

export const events = new Events('/api/v1/events');
