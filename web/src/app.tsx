// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { LocationProvider, Route, Router } from 'preact-iso';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, get, whenSignedOut } from './lib/api';
import { events } from './lib/events';
import { SessionContext, type Session } from './lib/session';
import type { Config, WhoAmI } from './lib/types';
import { AccessPage } from './pages/access';
import { CleanerPage } from './pages/cleaner';
import { CleanersPage } from './pages/cleaners';
import { FindingsPage } from './pages/findings';
import { ClosedPage, LoginPage } from './pages/login';
import { MakePage } from './pages/make';
import { OverviewPage } from './pages/overview';
import { PlanPage } from './pages/plan';
import { PlansPage } from './pages/plans';
import { RestorePage } from './pages/restore';
import { RunPage } from './pages/run';
import { RunsPage } from './pages/runs';
import { WhyPage } from './pages/why';
import { Empty, Failure, Head } from './ui/basics';
import { Shell } from './ui/shell';
import { Toasts } from './ui/toast';

/** ProxyError is for what only a load of the whole page can help against: then the proxy can lead to its login. */
class ProxyError extends Error {}

async function readSession(): Promise<Session> {
  const config = await get<Config>('config').catch((cause: ApiError) => {
    // The server itself answers everybody this.
    throw cause.status === 401 ? new ProxyError('You are signed out of the proxy in front of this page. Load the page again to sign in.') : cause;
  });
  if (!config.loggedIn) throw new ApiError(401, config.mode);
  try {
    return { ...config, ...await get<WhoAmI>('whoami') };
  } catch (cause) {
    // A token has expired; what a kubeconfig has instead, the person renews outside of this page.
    if (config.mode === 'Token') throw cause;
    throw new Error(`The API server does not accept your kubeconfig: ${(cause as Error).message}`);
  }
}

export function App() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<Error>();
  const load = useCallback(() => {
    readSession().then(
      (found) => { setSession(found); setError(undefined); },
      (cause: Error) => { setSession(undefined); setError(cause); },
    );
  }, []);
  useEffect(() => {
    whenSignedOut(load);
    load();
  }, []);
  const signedIn = session !== undefined;
  useEffect(() => {
    if (!signedIn) return;
    events.start();
    return () => events.stop();
  }, [signedIn]);
  if (session) return <SessionContext.Provider value={session}><Pages onSignedOut={load} /></SessionContext.Provider>;
  if (error instanceof ApiError && error.status === 401) return error.message === 'Local' ? <ClosedPage /> : <LoginPage onSignedIn={load} />;
  if (error) return <div class="login"><main class="card"><h1><img src="/icon.svg" alt="" width="37" height="37" />KubeCleaner</h1><Failure error={error} retry={error instanceof ProxyError ? () => location.reload() : load} /></main></div>;
  return <p class="boot" role="status">Loading KubeCleaner …</p>;
}

function Pages({ onSignedOut }: { onSignedOut: () => void }) {
  return (
    <LocationProvider>
      <Toasts>
        <Shell onSignedOut={onSignedOut}>
          <Router>
            <Route path="/" component={OverviewPage} />
            <Route path="/cleaners" component={CleanersPage} />
            <Route path="/cleaners/:name" component={CleanerPage} />
            <Route path="/runs" component={RunsPage} />
            <Route path="/runs/:name" component={RunPage} />
            <Route path="/runs/:name/restore" component={RestorePage} />
            <Route path="/plans" component={PlansPage} />
            <Route path="/plans/:name" component={PlanPage} />
            <Route path="/findings" component={FindingsPage} />
            <Route path="/why" component={WhyPage} />
            <Route path="/make" component={MakePage} />
            <Route path="/access" component={AccessPage} />
            <Route default component={NotFound} />
          </Router>
        </Shell>
      </Toasts>
    </LocationProvider>
  );
}

function NotFound() {
  return (
    <>
      <Head title="Page not found" />
      <Empty title="There is no such page."><a href="/">Go to the overview</a></Empty>
    </>
  );
}
