// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { segment, send, stream } from '../lib/api';
import { cronWords } from '../lib/cron';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { cleanerOf, nameOf, splitVersion, yaml, type Wish } from '../lib/make';
import type { Outcome, Permission } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Card, Code, Empty, Failure, Head } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { OutcomeTable } from '../ui/outcomes';
import { useSay } from '../ui/toast';
import { denied } from './cleaner';

export function MakePage() {
  const [params] = useParams();
  const { apiVersion = 'v1', kind = 'ConfigMap', namespace = '', type = 'Unused' } = params;
  useTitle('Make a Cleaner');
  const [wish, setWish] = useState<Wish>({
    name: nameOf(type, kind, namespace), ...splitVersion(apiVersion), kind, namespace, type,
    forDays: 14, schedule: '0 3 * * *', action: 'Scan', maxCount: 20, approval: true,
  });
  const change = (part: Partial<Wish>) => setWish((old) => ({ ...old, ...part }));
  return (
    <>
      <Head title="Make a Cleaner" crumb={<><a href="/findings">Findings</a> /</>}
        lead="Begin with Scan: it only reports. Preview shows what a run would find now, and saves nothing." />
      <div class="grid2">
        <Card title="What it does"><Form wish={wish} change={change} /></Card>
        <div class="stack">
          <Preview wish={wish} />
          <Card title="The manifest"><Code label="The manifest" text={yaml(cleanerOf(wish))} /></Card>
        </div>
      </div>
    </>
  );
}

interface FieldProps { id: string; label: string; value: string | number; type?: 'text' | 'number'; hint?: string; onInput: (value: string) => void }

function Field({ id, label, value, type = 'text', hint, onInput }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type={type} value={value} min={type === 'number' ? 0 : undefined} autoComplete="off" spellcheck={false}
        aria-describedby={hint ? `${id}-hint` : undefined} onInput={(e) => onInput(e.currentTarget.value)} />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

function Form({ wish, change }: { wish: Wish; change: (part: Partial<Wish>) => void }) {
  const permission = useLoad<{ create: Permission }>('cleaners/permissions', false);
  const [creating, setCreating] = useState(false);
  const { route } = useLocation();
  const say = useSay();
  const acts = wish.action !== 'Scan';
  return (
    <form class="stack" onSubmit={(e) => e.preventDefault()}>
      <Field id="name" label="Name" value={wish.name} onInput={(name) => change({ name })} />
      <Field id="kind" label="Kind" value={wish.kind} onInput={(kind) => change({ kind })} />
      <Field id="namespace" label="Namespace" value={wish.namespace} hint="Empty means all namespaces." onInput={(namespace) => change({ namespace })} />
      <Field id="for" type="number" label="Found so for at least (days)" value={wish.forDays} hint="In every run of that time. 0 takes what one run finds."
        onInput={(days) => change({ forDays: Math.max(0, Number(days) || 0) })} />
      <Field id="schedule" label="Schedule" value={wish.schedule} hint={cronWords(wish.schedule) ?? 'cron syntax, for example 0 3 * * *'} onInput={(schedule) => change({ schedule })} />
      <div class="field">
        <label for="action">Action</label>
        <select id="action" value={wish.action} onChange={(e) => change({ action: e.currentTarget.value })}>
          <option value="Scan">Scan: only report</option>
          <option value="Delete">Delete: with copies, so that it can be restored</option>
        </select>
      </div>
      {acts && (
        <>
          <Field id="max" type="number" label="Stop when more than this many match" value={wish.maxCount} onInput={(max) => change({ maxCount: Math.max(1, Number(max) || 1) })} />
          <label class="check"><input type="checkbox" checked={wish.approval} onChange={(e) => change({ approval: e.currentTarget.checked })} />A person approves each plan first</label>
        </>
      )}
      <div><Action label="Create the Cleaner" class="primary" missing={permission.data && denied(permission.data.create)} onClick={() => setCreating(true)} /></div>
      {creating && (
        <Confirm title={`Create the Cleaner ${wish.name}?`} confirm="Create" danger={acts} typed={acts ? wish.name : undefined} onClose={() => setCreating(false)}
          onConfirm={async () => {
            await send('POST', 'cleaners', cleanerOf(wish));
            say(`${wish.name} was created.`);
            route(`/cleaners/${segment(wish.name)}`);
          }}>
          <p>{acts ? `It deletes ${wish.kind} objects that match, at most ${plural(wish.maxCount, 'object')} in a run${wish.approval ? ', each time after a person approved' : ''}.` : 'It only reports.'}</p>
        </Confirm>
      )}
    </form>
  );
}

interface PreviewLine { match?: Outcome; progress?: { kind?: string; read: number; matched: number }; done?: { considered: number; matched: number; message?: string }; error?: string }
const shown = 200;

function Preview({ wish }: { wish: Wish }) {
  const [rows, setRows] = useState<Outcome[]>([]);
  const [matched, setMatched] = useState(0);
  const [status, setStatus] = useState('');
  const [error, setError] = useState<Error>();
  const abort = useRef<AbortController | undefined>(undefined);
  const [running, setRunning] = useState(false);
  useEffect(() => () => abort.current?.abort(), []);
  const run = async () => {
    const control = new AbortController();
    abort.current = control;
    setRows([]); setMatched(0); setError(undefined); setStatus('Reading the cluster …'); setRunning(true);
    let total = 0;
    const each = (line: PreviewLine) => {
      if (line.match) { total++; setMatched(total); if (total <= shown) setRows((old) => [...old, line.match!]); }
      if (line.progress) setStatus(`Reading ${line.progress.kind ?? ''}: ${plural(line.progress.read, 'object')} …`);
      if (line.done) setStatus(`${plural(line.done.considered, 'object')} looked at, ${count(line.done.matched)} matched. ${line.done.message ?? ''}`);
      if (line.error) setError(new Error(line.error));
    };
    try { await stream<PreviewLine>('preview', cleanerOf(wish), each, control.signal); } catch (cause) {
      if (control.signal.aborted) setStatus('Stopped.'); else { setError(cause as Error); setStatus(''); }
    }
    setRunning(false);
  };
  return (
    <Card title="Preview" aside={matched > 0 && plural(matched, 'match', 'matches')}>
      <div class="stack">
        <div class="row">
          {running ? <button type="button" onClick={() => abort.current?.abort()}>Stop</button>
            : <button type="button" class="primary" onClick={run}>Preview</button>}
          <span role="status" class="muted">{status}</span>
        </div>
        {error && <Failure error={error} />}
        {rows.length > 0 ? <OutcomeTable rows={rows} caption="What a run would find" />
          : !running && !error && <Empty title={status ? 'Nothing matches now.' : 'Not previewed yet.'}>{!status && 'Press Preview; nothing is saved or touched.'}</Empty>}
        {matched > shown && <p class="muted">The first {shown} of {count(matched)} are shown.</p>}
      </div>
    </Card>
  );
}
