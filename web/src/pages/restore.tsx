// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { diff } from '../lib/diff';
import { readable } from '../lib/time';
import type { Compared, Restored, RestorePlan } from '../lib/types';
import { objectName, plural } from '../lib/words';
import { Badge, Card, Empty, Head, Show } from '../ui/basics';
import { Confirm, Dialog } from '../ui/dialog';
import { Search } from '../ui/filters';
import { ObjectLink, objectKey } from '../ui/outcomes';
import { Paged, Table, type Column } from '../ui/table';
import { useSay } from '../ui/toast';

const limit = 20;

export function RestorePage({ name }: { name: string }) {
  useTitle(`Restore from ${name}`);
  const [force, setForce] = useState(false);
  const path = `runs/${segment(name)}/restore`;
  const plan = useLoad<RestorePlan>(`${path}${query({ force })}`, false);
  const [done, setDone] = useState<RestorePlan>();
  return (
    <>
      <Head title="Restore" crumb={<><a href="/runs">Runs</a> / <a href={`/runs/${segment(name)}`}>{name}</a> /</>}
        lead="Choose what comes back. What you see is a dry run: nothing is changed until you confirm. Restoring acts with your own rights.">
        <button type="button" onClick={plan.reload}>Dry run again</button>
      </Head>
      <div class="stack">
        {done && (
          <Card title="What was restored">
            <div role="status"><ResultTable rows={done.objects ?? []} /></div>
          </Card>
        )}
        <Show of={plan} what="copies: they are compared with the cluster">
          {(data) => (data.objects?.length
            ? <Choose run={name} objects={data.objects} force={force} setForce={setForce} restored={(result) => { setDone(result); plan.reload(); }} />
            : <section class="card"><Empty title="There are no copies.">Copies expire after rollback.retentionSeconds, by default after 7 days.</Empty></section>)}
        </Show>
      </div>
    </>
  );
}

interface ChooseProps { run: string; objects: Restored[]; force: boolean; setForce: (force: boolean) => void; restored: (result: RestorePlan) => void }

function Choose({ run, objects, force, setForce, restored }: ChooseProps) {
  const [params, change, turn] = useParams();
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [comparing, setComparing] = useState<Restored>();
  const [confirming, setConfirming] = useState(false);
  const say = useSay();
  const q = (params.q ?? '').toLowerCase();
  const offset = Number(params.offset) || 0;
  const matching = objects.filter((o) => [o.kind, o.namespace, o.name].join('/').toLowerCase().includes(q));
  const page = { items: matching.slice(offset, offset + limit), total: matching.length, offset, limit };
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  const restore = async () => {
    const result = await send<RestorePlan>('POST', `runs/${segment(run)}/restore`, { only: [...chosen], force });
    const back = (result.objects ?? []).filter((o) => o.outcome === 'Restored').length;
    say(`Restored ${plural(back, 'object')}.`);
    setChosen(new Set());
    restored(result);
  };
  const columns: Column<Restored>[] = [
    { title: 'Restore', cell: (o) => <input type="checkbox" checked={chosen.has(objectKey(o))} aria-label={`Restore ${objectName(o)}`} onChange={() => toggle(objectKey(o))} /> },
    { title: 'Object', class: 'wrap', cell: (o) => <ObjectLink of={o} /> },
    { title: 'Dry run', class: 'wrap', cell: (o) => <><Badge word={o.outcome} />{o.step && <div class="small muted">{steps[o.step] ?? o.step}</div>}</> },
    { title: 'Why', class: 'wrap', cell: (o) => <>{readable(o.reason)}{o.notes?.map((note) => <div key={note} class="small muted">{note}</div>)}</> },
    { title: 'Copy', cell: (o) => <button type="button" class="small" onClick={() => setComparing(o)}>Compare<span class="sr"> {objectName(o)} with live</span></button> },
  ];
  return (
    <Card title={chosen.size ? `${plural(chosen.size, 'object')} chosen` : 'Choose objects'} aside={plural(objects.length, 'copy', 'copies')}>
      <div class="filters" role="search"><Search label="Object" value={params.q} onChange={(value) => change({ q: value, offset: undefined })} /></div>
      <Paged of={page} what="copies" onOffset={turn} none={<Empty title="No copy is like that." />}>
        {(rows) => <Table caption="Copies" rows={rows} keyOf={objectKey} columns={columns} />}
      </Paged>
      <div class="stack">
        <div class="row">
          <button type="button" class="small" onClick={() => setChosen(new Set([...chosen, ...matching.map(objectKey)]))}>Choose all {matching.length}</button>
          <button type="button" class="small" onClick={() => setChosen(new Set())}>Choose none</button>
          <label class="check"><input type="checkbox" checked={force} onChange={(e) => setForce(e.currentTarget.checked)} />Overwrite what changed since</label>
        </div>
        <div><button type="button" class="primary" disabled={chosen.size === 0} onClick={() => setConfirming(true)}>Restore {plural(chosen.size, 'object')} …</button></div>
      </div>
      {comparing && <Compare run={run} of={comparing} force={force} onClose={() => setComparing(undefined)} />}
      {confirming && (
        <Confirm title={`Restore ${plural(chosen.size, 'object')}?`} confirm={`Restore ${plural(chosen.size, 'object')}`} danger={force} onConfirm={restore} onClose={() => setConfirming(false)}>
          <p>What is gone is created again from its copy; what was changed gets its old content back{force ? ', also where somebody changed it since' : ''}. An Event says that you did it.</p>
        </Confirm>
      )}
    </Card>
  );
}

const steps: Record<string, string> = { Create: 'create it again', Overwrite: 'overwrite it', PutBack: 'put its old content back' };

function ResultTable({ rows }: { rows: Restored[] }) {
  return (
    <Table caption="Result" rows={rows} keyOf={objectKey} columns={[
      { title: 'Object', class: 'wrap', cell: (o) => <ObjectLink of={o} /> },
      { title: 'Result', cell: (o) => <Badge word={o.outcome} /> },
      { title: 'Why', class: 'wrap', cell: (o) => o.reason },
    ]} />
  );
}

/** compareText says what the two sides of a comparison are. */
export function compareText(of: Compared): string {
  const now = of.live ? 'Lines with + are in the copy; lines with − are there now.' : 'It does not exist now. This is the copy:';
  if (!of.restores) return `A restore would not touch it${of.why ? `: ${of.why}` : ''}. ${of.live === of.after ? 'It is as in the copy.' : now}`;
  if (!of.live) return 'It does not exist now. A restore makes this:';
  return of.live === of.after ? 'A restore would change nothing.' : 'Lines with + come with a restore; lines with − are there now.';
}

function Compare({ run, of, force, onClose }: { run: string; of: Restored; force: boolean; onClose: () => void }) {
  const compared = useLoad<Compared>(`runs/${segment(run)}/copy${query({ object: objectKey(of), force })}`, false);
  return (
    <Dialog title={objectName(of)} onClose={onClose} wide>
      <div class="stack">
        <Show of={compared} what="what a restore would make">
          {(data) => (
            <>
              <p>{readable(compareText(data))}</p>
              {data.leftOut?.length ? <p class="note info">Not as in the copy: <span class="mono">{data.leftOut.slice(0, most).join(', ')}</span>{data.leftOut.length > most && ` and ${plural(data.leftOut.length - most, 'more field')}`}.</p> : null}
              <DiffView before={data.live || data.after} after={data.after} />
            </>
          )}
        </Show>
        <footer><button type="button" onClick={onClose}>Close</button></footer>
      </div>
    </Dialog>
  );
}

const most = 12;

export function DiffView({ before, after }: { before: string; after: string }) {
  const look = { '+': 'add', '-': 'del', ' ': undefined };
  return (
    <pre class="code diff" tabIndex={0} role="group" aria-label="Difference">
      {diff(before, after).map((line, i) => <span key={i} class={look[line.mark]}>{line.mark} {line.text}{'\n'}</span>)}
    </pre>
  );
}
