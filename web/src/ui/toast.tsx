// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { readable } from '../lib/time';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';

/** Say shows the person a message. An error stays until it is closed; what was done goes after some seconds, or on the next page. */
type Say = (text: string | Error) => void;
interface Message { id: number; text: string; bad: boolean; path: string }

const SayContext = createContext<Say>(() => {});
const goesAfter = 8_000;

export function useSay() { return useContext(SayContext); }

export function Toasts({ children }: { children: ComponentChildren }) {
  const [all, setAll] = useState<Message[]>([]);
  const { path } = useLocation();
  const say = useCallback((what: string | Error) => {
    const bad = typeof what !== 'string';
    // Not the path of the last render: what is said after route() is for the new page.
    const message = { text: bad ? what.message : what, bad, path: location.pathname.replace(/\/+$/, '') || '/' };
    setAll((old) => [...old.slice(-2), { id: (old[old.length - 1]?.id ?? 0) + 1, ...message }]);
  }, []);
  useEffect(() => setAll((old) => old.filter((each) => each.bad || each.path === path)), [path]);
  const close = useCallback((id: number) => setAll((old) => old.filter((each) => each.id !== id)), []);
  return (
    <SayContext.Provider value={say}>
      {children}
      <div class="toasts" role="status">{all.map((message) => <Toast key={message.id} of={message} close={close} />)}</div>
    </SayContext.Provider>
  );
}

function Toast({ of, close }: { of: Message; close: (id: number) => void }) {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const stays = of.bad || hovered || focused;
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => close(of.id), goesAfter);
    return () => clearTimeout(timer);
  }, [stays, of.id]);
  return (
    <div class={of.bad ? 'toast bad' : 'toast'} onMouseEnter={() => setHovered(true)} onMouseLeave={() => setHovered(false)}
      onFocusIn={() => setFocused(true)} onFocusOut={() => setFocused(false)}>
      <span>{readable(of.text)}</span>
      <button type="button" onClick={() => close(of.id)}>Close</button>
    </div>
  );
}
