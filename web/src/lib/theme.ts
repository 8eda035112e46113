// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

export type Theme = 'system' | 'light' | 'dark';
const key = 'kubecleaner-theme';

export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(key);
    return saved === 'light' || saved === 'dark' ? saved : 'system';
  } catch {
    return 'system'; // storage may be forbidden
  }
}

/** applyTheme sets the colours; system follows the computer. */
export function applyTheme(theme: Theme = savedTheme()) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try { localStorage.setItem(key, theme); } catch { /* it holds until the page is closed */ }
}
