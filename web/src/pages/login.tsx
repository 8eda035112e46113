// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { send } from '../lib/api';
import { useTitle } from '../lib/hooks';
import { Code, Failure } from '../ui/basics';

export function LoginPage({ onSignedIn }: { onSignedIn: () => void }) {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  useTitle('Sign in');
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!token.trim() || busy) return;
    setBusy(true);
    setError(undefined);
    try { await send('POST', '/login', { token: token.trim() }); setToken(''); onSignedIn(); } catch (cause) { setError(cause as Error); }
    setBusy(false);
  };
  return (
    <div class="login">
      <main class="card">
        <h1><img src="/icon.svg" alt="" width="37" height="37" />KubeCleaner</h1>
        <form class="stack" onSubmit={submit}>
          <p>Sign in with a token of the cluster. The page then shows what that person may see, and does what that person may do; it has no rights of its own.</p>
          <div class="field">
            <label for="token">Token</label>
            <input id="token" type="password" value={token} autoComplete="off" required spellcheck={false}
              aria-describedby="token-hint" onInput={(e) => setToken(e.currentTarget.value)} />
            <small id="token-hint">It is kept in a cookie of this browser session only.</small>
          </div>
          {error && <Failure error={error} />}
          <div><button type="submit" class="primary">{busy ? 'Signing in …' : 'Sign in'}</button></div>
          <details>
            <summary>Where do I get a token?</summary>
            <p class="small">For a ServiceAccount, for one hour:</p>
            <Code label="Command" text="kubectl create token NAME -n NAMESPACE --duration=1h" />
            <p class="small">Or use your own kubeconfig, without a token:</p>
            <Code label="Command" text="kubectl cleaner dashboard" />
          </details>
        </form>
      </main>
    </div>
  );
}

/** ClosedPage is what a browser sees that did not open the address with the one-time token. */
export function ClosedPage() {
  useTitle('Not open here');
  return (
    <div class="login">
      <main class="card">
        <h1><img src="/icon.svg" alt="" width="37" height="37" />KubeCleaner</h1>
        <div class="stack">
          <p>This browser has not opened the address that <span class="mono">kubectl cleaner dashboard</span> printed. That address can be opened once.</p>
          <p>For a new address, start it again:</p>
          <Code label="Command" text="kubectl cleaner dashboard" />
        </div>
      </main>
    </div>
  );
}
