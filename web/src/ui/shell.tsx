// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../lib/api';
import { events } from '../lib/events';
import { useSession } from '../lib/session';
import { applyTheme, savedTheme, type Theme } from '../lib/theme';

const pages = [
  { path: '/', title: 'Overview' },
  { path: '/findings', title: 'Findings' },
  { path: '/cleaners', title: 'Cleaners' },
  { path: '/plans', title: 'Plans' },
  { path: '/runs', title: 'Runs' },
  { path: '/access', title: 'Access and health' },
];

/** pageOf is the entry of the navigation that a path belongs to. */
export function pageOf(path: string): string {
  if (path.startsWith('/why') || path.startsWith('/make')) return '/findings';
  return pages.find((page) => page.path !== '/' && path.startsWith(page.path))?.path ?? '/';
}

export function Shell({ children, onSignedOut }: { children: ComponentChildren; onSignedOut: () => void }) {
  const session = useSession();
  const { path } = useLocation();
  const first = useRef(true);
  useEffect(() => {
    if (first.current) { first.current = false; return; }
    // A screen reader hears the new page, and Tab goes on from its top.
    window.scrollTo(0, 0);
    document.querySelector('main')?.focus();
  }, [path]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.querySelector('main')?.focus(); }}>Skip to the content</a>
      <div class="shell">
        <header class="nav">
          <a class="brand" href="/"><img src="/icon.svg" alt="" width="29" height="29" />KubeCleaner</a>
          <nav aria-label="Pages">
            <ul>
              {pages.map((page) => (
                <li key={page.path}>
                  <a href={page.path} aria-current={pageOf(path) === page.path ? 'page' : undefined}>
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Foot onSignedOut={onSignedOut} />
        </header>
        <div>
          {session.readOnly && <div class="banner" role="status">This page is read-only: it takes no changes.</div>}
          <main id="main" tabIndex={-1}>{children}</main>
        </div>
      </div>
    </>
  );
}

function Foot({ onSignedOut }: { onSignedOut: () => void }) {
  const session = useSession();
  const signOut = () => { send('POST', '/logout').finally(onSignedOut); };
  return (
    <div class="nav-foot">
      <Live />
      <div class="who"><span>You are</span><strong>{session.user}</strong>{session.cluster && <span>in {session.cluster}</span>}</div>
      <div class="row">
        <ThemeButton />
        {session.mode === 'Token' && <button type="button" class="small" onClick={signOut}>Sign out</button>}
      </div>
    </div>
  );
}

function Live() {
  const [live, setLive] = useState(events.live);
  useEffect(() => events.onState(() => setLive(events.live)), []);
  return live
    ? <span class="live" title="Changes in the cluster appear at once">Live</span>
    : <span class="live polling" title="There is no stream of changes; the page asks every 10 seconds">Updates every 10 seconds</span>;
}

const order: Theme[] = ['system', 'light', 'dark'];
const themeNames: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' };

function ThemeButton() {
  const [theme, setTheme] = useState(savedTheme);
  const next = order[(order.indexOf(theme) + 1) % order.length]!;
  return (
    <button type="button" class="small" title={`Change to ${themeNames[next]}`}
      onClick={() => { applyTheme(next); setTheme(next); }}>Colours: {themeNames[theme]}</button>
  );
}
