// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Browsers send the cookie of kubectl cleaner dashboard to all ports of this computer, also to those of other people.
// The key is kept for the page's own origin, which has the port in it. The server takes the cookie only with the key.

const name = 'kubecleaner-key';
let key = '';

/** takeKey reads the key from the address to which the server led the browser, once, and keeps it. */
export function takeKey() {
  const found = /^#key=(\w+)$/.exec(location.hash);
  try {
    if (found) localStorage.setItem(name, found[1]!);
    key = localStorage.getItem(name) ?? '';
  } catch { key = found?.[1] ?? ''; /* it holds until the page is loaded again */ }
  if (found) history.replaceState(null, '', location.pathname + location.search);
}

export function keyHeader(): Record<string, string> { return key ? { 'X-Kubecleaner-Key': key } : {}; }

/** withKey is an address for what takes no headers. */
export function withKey(url: string): string { return key ? `${url}?key=${key}` : url; }
