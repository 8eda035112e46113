// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, stream } from '../lib/api';
import { readable, seconds } from '../lib/time';
import type { PreviewResult } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Badge, Card, Empty, Failure } from './basics';
import { OutcomeTable } from './outcomes';

interface PreviewProps { of: { yaml: string } | { name: string }; forSeconds?: number; missing?: string }

/** Preview asks what a run would do now, of a Cleaner of the cluster or of a manifest that is not saved. Its result leaves out that a run waits forSeconds. */
export function Preview({ of, forSeconds = 0, missing }: PreviewProps) {
  const [result, setResult] = useState<PreviewResult>();
  const [status, setStatus] = useState('');
  const [notes, setNotes] = useState('');
  const [error, setError] = useState<Error>();
  const abort = useRef<AbortController | undefined>(undefined);
  const [running, setRunning] = useState(false);
  const key = 'yaml' in of ? of.yaml : of.name;
  // What was found of another manifest says nothing of this one.
  useEffect(() => {
    setResult(undefined); setNotes(''); setError(undefined); setStatus('');
    return () => abort.current?.abort();
  }, [key]);
  const run = async () => {
    const control = new AbortController();
    abort.current = control;
    setResult(undefined); setNotes(''); setError(undefined); setStatus('Reading the cluster …'); setRunning(true);
    const each = (event: string, text: string) => {
      if (control.signal.aborted) return;
      const data = JSON.parse(text);
      if (event === 'progress') setStatus(data.text);
      if (event === 'result') { const found: PreviewResult | undefined = data.cleaners?.[0]; setResult(found); setStatus(!found || blind(found) ? 'Nothing could be previewed.' : 'Done; nothing was touched.'); setNotes(data.notes ?? ''); }
      if (event === 'error') { setError(new ApiError(0, data.error, data.missing, data.hint)); setStatus(''); }
    };
    try { await stream('preview', of, each, control.signal); } catch (cause) {
      if (control.signal.aborted) { if (abort.current === control) setStatus('Stopped.'); } else { setError(cause as Error); setStatus(''); }
    }
    if (abort.current === control) setRunning(false);
  };
  return (
    <Card title="Preview" aside="what a run would find now">
      <div class="stack">
        <div class="row">
          {running ? <button type="button" onClick={() => abort.current?.abort()}>Stop</button>
            : <Action label="Preview" class="primary" missing={missing} onClick={run} />}
          <span role="status" class="muted">{status}</span>
        </div>
        {error && <Failure error={error} />}
        {notes && <p class={`note lines-kept ${/no copy|no copies/i.test(notes) ? 'warn' : ''}`}>{readable(notes)}</p>}
        {result ? <Result of={result} forSeconds={result.action === 'Scan' ? 0 : forSeconds} isNew={'yaml' in of} /> : !running && !error && <Empty title="Not previewed yet.">Press Preview: nothing is saved or touched.</Empty>}
      </div>
    </Card>
  );
}

/** waitText says what a run touches now, of what matches now. The Cleaner that is not made yet has seen nothing before. */
export function waitText(forSeconds: number, isNew: boolean, now = Date.now()): string {
  const long = forSeconds % 86400 ? seconds(forSeconds) : plural(forSeconds / 86400, 'day');
  if (!isNew) return `A run now touches only those of them that every run has found so for ${long}.`;
  const day = new Date(now + forSeconds * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  return `A run now would touch nothing. It waits until every run has found an object so for ${long}: until ${day} at the earliest.`;
}

/** blind is a preview that could look at nothing: its counts say nothing. */
const blind = (of: PreviewResult) => Boolean(of.incomplete) && of.considered === 0;

function Result({ of, forSeconds, isNew }: { of: PreviewResult; forSeconds: number; isNew: boolean }) {
  const objects = of.objects ?? [];
  return (
    <>
      {!blind(of) && <p>
        <Badge word={of.action} /> {plural(of.considered, 'object')} looked at, <strong>{count(of.matched)} matched</strong>
        {of.action !== 'Scan' && `, ${count(of.wouldAct)} would be touched${forSeconds ? ' later' : ''}`}{of.leftAlone > 0 && `, ${count(of.leftAlone)} left alone`}.
      </p>}
      {of.wouldAct > 0 && forSeconds > 0 && <p class="note info">{waitText(forSeconds, isNew)}</p>}
      {of.incomplete && <p class="note warn">A run would touch nothing: {readable(of.incomplete)}</p>}
      {of.limitExceeded && <p class="note warn">A run would touch nothing: {readable(of.limitExceeded)}</p>}
      {objects.length > 0 ? <OutcomeTable rows={objects} caption="What a run would find" /> : !of.incomplete && <Empty title="Nothing matches now." />}
      {of.more ? <p class="muted">{plural(of.more, 'more object')} are not shown.</p> : null}
    </>
  );
}
