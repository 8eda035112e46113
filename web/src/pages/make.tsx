// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { cleanerOf, nameOf, splitVersion, yaml, type Wish } from '../lib/make';
import type { Access, CleanerSaved, Loss } from '../lib/types';
import { plural } from '../lib/words';
import { Action, Card, Code, denied, Head } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { Preview } from '../ui/preview';
import { useSay } from '../ui/toast';

/** isOver is a finding that says that a time is over: there is nothing more to wait for. */
const isOver = (type: string) => type === 'Expired' || type === 'CertificateExpired';

export function MakePage() {
  const [params] = useParams();
  const { apiVersion = 'v1', kind = 'ConfigMap', namespace = '', type = 'Unused' } = params;
  useTitle('Make a Cleaner');
  const [wish, setWish] = useState<Wish>({
    name: nameOf(type, kind, namespace), ...splitVersion(apiVersion), kind, namespace, type,
    forDays: isOver(type) ? 0 : 14, schedule: '0 3 * * *', action: 'Scan', maxCount: 20, approval: true,
  });
  const change = (part: Partial<Wish>) => setWish((old) => ({ ...old, ...part }));
  return (
    <>
      <Head title="Make a Cleaner" crumb={<><a href="/findings">Findings</a> /</>}
        lead="Begin with Scan: it only reports. Preview shows what a run would find now, and saves nothing." />
      <div class="grid2">
        <Card title="What it does"><Form wish={wish} change={change} /></Card>
        <div class="stack">
          <Preview of={{ yaml: yaml(cleanerOf(wish)) }} forSeconds={wish.forDays * 86400} />
          <Create wish={wish} />
          <Card title="The manifest"><Code label="The manifest" text={yaml(cleanerOf(wish))} /></Card>
        </div>
      </div>
    </>
  );
}

interface FieldProps { id: string; label: string; value: string | number; numeric?: boolean; hint?: string; onInput: (value: string) => void }

function Field({ id, label, value, numeric, hint, onInput }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} value={value} inputMode={numeric ? 'numeric' : undefined} autoComplete="off" spellcheck={false}
        aria-describedby={hint ? `${id}-hint` : undefined} onInput={(e) => onInput(e.currentTarget.value)} />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

/** useLoss is what no restore brings back of the kind. It is undefined until the server has said it. */
function useLoss({ group, kind }: Wish): string[] | undefined {
  const loss = useLoad<Loss>(`loss${query({ group, kind })}`, false);
  if (loss.error) return [`It is not known which objects get a copy: ${loss.error.message}`];
  return loss.loading ? undefined : loss.data?.warnings ?? [];
}

function Form({ wish, change }: { wish: Wish; change: (part: Partial<Wish>) => void }) {
  const acts = wish.action !== 'Scan';
  const loss = useLoss(wish);
  return (
    <form class="stack" onSubmit={(e) => e.preventDefault()}>
      <Field id="name" label="Name" value={wish.name} onInput={(name) => change({ name })} />
      <Field id="kind" label="Kind" value={wish.kind} onInput={(kind) => change({ kind })} />
      <Field id="namespace" label="Namespace" value={wish.namespace} hint="Empty means all namespaces." onInput={(namespace) => change({ namespace })} />
      <Field id="for" numeric label="Found so for at least (days)" value={wish.forDays} hint="In every run of that time. 0 takes what one run finds."
        onInput={(days) => change({ forDays: Math.max(0, Number(days) || 0) })} />
      <Field id="schedule" label="Schedule" value={wish.schedule} hint="In cron syntax: 0 3 * * * is every day at 03:00 UTC." onInput={(schedule) => change({ schedule })} />
      <div class="field">
        <label for="action">Action</label>
        <select id="action" value={wish.action} onChange={(e) => change({ action: e.currentTarget.value })}>
          <option value="Scan">Scan: only report</option>
          <option value="Delete">{!loss ? 'Delete' : loss.length ? 'Delete: not all can be restored' : 'Delete: with copies'}</option>
        </select>
      </div>
      {acts && loss?.map((text) => <p key={text} class="note warn">{text}</p>)}
      {acts && (
        <>
          <Field id="max" numeric label="Stop when more than this many match" value={wish.maxCount} onInput={(max) => change({ maxCount: Math.max(1, Number(max) || 1) })} />
          <label class="check"><input type="checkbox" checked={wish.approval} onChange={(e) => change({ approval: e.currentTarget.checked })} />A person must approve what each run is going to delete</label>
        </>
      )}
    </form>
  );
}

/** Create comes after the preview, also on a phone. */
function Create({ wish }: { wish: Wish }) {
  const access = useLoad<Access>('access', false);
  const [creating, setCreating] = useState(false);
  const { route } = useLocation();
  const say = useSay();
  const acts = wish.action !== 'Scan';
  const loss = useLoss(wish);
  return (
    <>
      <div><Action label="Create the Cleaner" class="primary" missing={denied(access.data?.rights?.find((right) => right.id === 'cleaners.create'))} onClick={() => setCreating(true)} /></div>
      {creating && (
        <Confirm title={`Create the Cleaner ${wish.name}?`} confirm="Create" danger={acts} typed={acts ? wish.name : undefined} onClose={() => setCreating(false)}
          onConfirm={async () => {
            const saved = await send<CleanerSaved>('POST', 'cleaners', { yaml: yaml(cleanerOf(wish)) });
            route(`/cleaners/${segment(wish.name)}`);
            say(`${wish.name} was created. ${saved?.warnings?.join(' ') ?? ''}`);
          }}>
          <p>{acts ? `It deletes ${wish.kind} objects that match, at most ${plural(wish.maxCount, 'object')} in a run${wish.approval ? ', once a person has approved them' : ''}.` : 'It only reports.'}</p>
          {acts && loss?.map((text) => <p key={text} class="note warn">{text}</p>)}
        </Confirm>
      )}
    </>
  );
}
