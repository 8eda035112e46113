// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';
import { useCallback, useContext, useState } from 'preact/hooks';

const Say = createContext<(text: string) => void>(() => {});

/** useSay returns what tells the person that something was done. A message stays until it is closed or three more came. */
export function useSay() { return useContext(Say); }

export function Toasts({ children }: { children: ComponentChildren }) {
  const [texts, setTexts] = useState<{ id: number; text: string }[]>([]);
  const say = useCallback((text: string) => {
    setTexts((old) => [...old.slice(-2), { id: (old[old.length - 1]?.id ?? 0) + 1, text }]);
  }, []);
  return (
    <Say.Provider value={say}>
      {children}
      <div class="toasts" role="status">
        {texts.map(({ id, text }) => (
          <div class="toast" key={id}>
            <span>{text}</span>
            <button type="button" onClick={() => setTexts((old) => old.filter((each) => each.id !== id))}>Close</button>
          </div>
        ))}
      </div>
    </Say.Provider>
  );
}
