// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment, send } from '../lib/api';
import { useState } from 'preact/hooks';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Copy, Page } from '../lib/types';
import { plural } from '../lib/words';
import { Badge, Card, Empty, Failure, Head, Show } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { Search } from '../ui/filters';
import { keyOf, ObjectLink } from '../ui/outcomes';
import { Pager, Table } from '../ui/table';
import { useSay } from '../ui/toast';

const limit = 25;

export function RestorePage({ name }: { name: string }) {
  useTitle(`Restore from ${name}`);
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const copies = useLoad<Page<Copy>>(`runs/${segment(name)}/copies${query({ search: params.search, offset, limit })}`, false);
  const [chosen, setChosen] = useState<Map<string, Copy>>(new Map());
  const toggle = (copy: Copy) => {
    const next = new Map(chosen);
    if (!next.delete(keyOf(copy))) next.set(keyOf(copy), copy);
    setChosen(next);
  };
  return (
    <>
      <Head title="Restore" crumb={<><a href={`/runs/${segment(name)}`}>Run {name}</a> /</>}
        lead="Choose what comes back. A dry run asks the API server and changes nothing; restoring acts with your own rights." />
      <div class="stack">
        <Card title="Copies" aside="compared with what is in the cluster now">
          <div class="filters" role="search"><Search label="Object" value={params.search} onChange={(search) => change({ search, offset: undefined })} /></div>
          <Show of={copies} what="copies">
            {(data) => (data.items.length === 0 ? <Empty title="There are no copies like that.">Copies expire with rollback.retentionSeconds, after 7 days by default.</Empty> : (
              <>
                <Table caption="Copies" rows={data.items} keyOf={keyOf} columns={[
                  { title: 'Restore', cell: (copy) => (
                    <input type="checkbox" checked={chosen.has(keyOf(copy))} aria-label={`Restore ${copy.kind} ${copy.namespace ?? ''} ${copy.name}`} onChange={() => toggle(copy)} />
                  ) },
                  { title: 'Object', class: 'wrap', cell: (copy) => <ObjectLink of={copy} /> },
                  { title: 'Now', cell: (copy) => <><Badge word={copy.state} />{copy.note && <div class="small muted">{copy.note}</div>}</> },
                  { title: 'Difference', class: 'wrap', cell: (copy) => (copy.diff ? <Diff text={copy.diff} of={copy.name} /> : <span class="muted">–</span>) },
                ]} />
                <div class="row">
                  <button type="button" class="small" onClick={() => setChosen(new Map([...chosen, ...data.items.map((copy) => [keyOf(copy), copy] as const)]))}>Choose this page</button>
                  <button type="button" class="small" onClick={() => setChosen(new Map())}>Choose none</button>
                </div>
                <Pager what="copies" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
              </>
            ))}
          </Show>
        </Card>
        <Act run={name} chosen={[...chosen.values()]} done={() => { setChosen(new Map()); copies.reload(); }} />
      </div>
    </>
  );
}

interface RestoreResult { items: (Copy & { outcome: string; message?: string })[] }

function Act({ run, chosen, done }: { run: string; chosen: Copy[]; done: () => void }) {
  const [result, setResult] = useState<RestoreResult & { dryRun: boolean }>();
  const [error, setError] = useState<Error>();
  const [confirming, setConfirming] = useState(false);
  const say = useSay();
  const restore = async (dryRun: boolean) => {
    setError(undefined);
    const answer = await send<RestoreResult>('POST', `runs/${segment(run)}/restore`, { dryRun, objects: chosen.map(({ apiVersion, kind, namespace, name, uid }) => ({ apiVersion, kind, namespace, name, uid })) });
    setResult({ ...answer, dryRun });
    if (!dryRun) { say(`Restored ${plural(answer.items.length, 'object')}.`); done(); }
  };
  const none = chosen.length === 0;
  return (
    <Card title={none ? 'Nothing is chosen' : `${plural(chosen.length, 'object')} chosen`}>
      <div class="stack">
        <div class="row">
          <button type="button" disabled={none} onClick={() => restore(true).catch(setError)}>Dry run</button>
          <button type="button" class="primary" disabled={none} onClick={() => setConfirming(true)}>Restore …</button>
        </div>
        {error && <Failure error={error} />}
        {result && (
          <div role="status">
            <h3>{result.dryRun ? 'What a restore would do' : 'What was restored'}</h3>
            <Table caption="Result" rows={result.items} keyOf={keyOf} columns={[
              { title: 'Object', class: 'wrap', cell: (item) => <ObjectLink of={item} /> },
              { title: 'Result', cell: (item) => <Badge word={item.outcome} /> },
              { title: 'Message', class: 'wrap', cell: (item) => item.message },
            ]} />
          </div>
        )}
      </div>
      {confirming && (
        <Confirm title={`Restore ${plural(chosen.length, 'object')}?`} confirm={`Restore ${plural(chosen.length, 'object')}`} onConfirm={() => restore(false)} onClose={() => setConfirming(false)}>
          <p>What is gone is created again from its copy; what was changed gets its old content back. An Event says that you did it.</p>
        </Confirm>
      )}
    </Card>
  );
}

export function Diff({ text, of }: { text: string; of: string }) {
  return (
    <details>
      <summary>Show<span class="sr"> the difference of {of}</span></summary>
      <pre class="code diff" tabIndex={0} role="region" aria-label={`Difference of ${of}`}>
        {text.split('\n').map((line, i) => <span key={i} class={line[0] === '+' ? 'add' : line[0] === '-' ? 'del' : undefined}>{line}{'\n'}</span>)}
      </pre>
    </details>
  );
}
