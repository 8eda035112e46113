// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Browsers send the cookie of kubectl cleaner dashboard to all ports of this computer, also to those of other people.
// The key is kept for the page's own origin, which has the port in it. The server takes the cookie only with the key.

const name = 'kubecleaner-key';
const header = 'X-Kubecleaner-Key';
let key = '';

/** takeKey reads the key from the address to which the server led the browser, once, and keeps it. */
export async function takeKey() {
  const found = /^#key=(\w+)$/.exec(location.hash)?.[1];
  if (found) history.replaceState(null, '', location.pathname + location.search);
  try { key = localStorage.getItem(name) ?? ''; } catch { key = ''; }
  // Any page can lead here with a key of its own. That must not replace the right one, which nobody could get again.
  if (!found || (key && !await opens(found))) return;
  key = found;
  try { localStorage.setItem(name, key); } catch { /* it holds until the page is loaded again */ }
}

/** opens reports whether the server takes the key. */
async function opens(found: string): Promise<boolean> {
  const config = await fetch('/api/v1/config', { headers: { [header]: found }, cache: 'no-store' }).then((answer) => answer.json()).catch(() => undefined);
  return config?.loggedIn === true;
}

export function keyHeader(): Record<string, string> { return key ? { [header]: key } : {}; }

/** withKey is an address for what takes no headers. */
export function withKey(url: string): string { return key ? `${url}?key=${key}` : url; }
