// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Finding, Findings } from '../lib/types';
import { bytes, count, plural } from '../lib/words';
import { Badge, Card, Empty, Head, Show, Time } from '../ui/basics';
import { Search, Select } from '../ui/filters';
import { keyOf, ObjectLink } from '../ui/outcomes';
import { Pager, Table, type Column } from '../ui/table';

const columns: Column<Finding>[] = [
  { title: 'Object', sort: 'name', class: 'wrap', cell: (row) => <ObjectLink of={row} /> },
  { title: 'Finding', sort: 'type', cell: (row) => <><Badge word={row.type} /><div class="small muted">{row.confidence}</div></> },
  { title: 'Why', class: 'wrap', cell: (row) => <>{row.reason}{row.managedBy && <div class="small muted">managed by {row.managedBy}</div>}</> },
  { title: 'Owner', cell: (row) => row.owner ?? <span class="muted">–</span> },
  { title: 'Age', sort: 'age', cell: (row) => <Time at={row.age} /> },
  { title: 'Would free', sort: 'frees', number: true, cell: (row) => (row.freesBytes ? bytes(row.freesBytes) : '–') },
  { title: 'Next', cell: (row) => <a href={makeHref(row)}>Make a Cleaner<span class="sr"> for what is like {row.name}</span></a> },
];

const limit = 50;
const groupings = { kind: 'Kind', namespace: 'Namespace', owner: 'Owner' };
type Grouping = keyof typeof groupings;

export function makeHref(of: { apiVersion?: string; kind: string; namespace?: string; type?: string }): string {
  return `/make${query({ apiVersion: of.apiVersion, kind: of.kind, namespace: of.namespace, type: of.type ?? 'Unused' })}`;
}

export function FindingsPage() {
  useTitle('Findings');
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const { kind, namespace, owner, type, search, sort } = params;
  const by: Grouping = params.by && params.by in groupings ? (params.by as Grouping) : 'kind';
  const findings = useLoad<Findings>(`findings${query({ kind, namespace, owner, type, search, sort, by, offset, limit })}`, false);
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined });
  const filtered = Boolean(kind || namespace || owner || type || search);
  return (
    <>
      <Head title="Findings" lead="What nothing uses, what is finished, stuck or expired. Read from the cluster now, with your own rights; looking changes nothing.">
        <button type="button" onClick={findings.reload}>Scan again</button>
      </Head>
      <div class="stack">
        <Show of={findings} what="findings: the cluster is being read">
          {(data) => (
            <>
              <Unreadable of={data} />
              <Card title={`${plural(data.total, 'finding')}${filtered ? ' like that' : ''}`} aside={data.freesBytes > 0 && `Deleting them would free ${bytes(data.freesBytes)}`}>
                <div class="filters" role="search">
                  <Search label="Name or reason" value={search} onChange={(value) => filter({ search: value })} />
                  <Select label="Finding" value={type} onChange={(value) => filter({ type: value })}
                    options={['Unused', 'Dangling', 'Cascading', 'Finished', 'Failed', 'Idle', 'Stuck', 'Expired', 'CertificateExpired', 'Unhealthy']} />
                  <Search label="Kind" value={kind} onChange={(value) => filter({ kind: value })} />
                  <Search label="Namespace" value={namespace} onChange={(value) => filter({ namespace: value })} />
                  <Select label="Group by" value={by} all="" options={Object.keys(groupings)} onChange={(value) => filter({ by: value })} />
                </div>
                {data.items.length === 0 ? <Nothing filtered={filtered} /> : (
                  <div class="stack">
                    <Groups of={data} by={by} chosen={params[by]} onChoose={(name) => filter({ [by]: name === params[by] ? undefined : name })} />
                    <Table caption="Findings" columns={columns} rows={data.items} keyOf={keyOf} sort={sort} onSort={(value) => filter({ sort: value })} />
                    <Pager what="findings" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
                  </div>
                )}
              </Card>
            </>
          )}
        </Show>
      </div>
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="Nothing is like that."><a href="/findings">Show all findings</a></Empty>;
  return <Empty title="Nothing was found.">Everything that you may read is in use. Come back later, or ask for wider rights.</Empty>;
}

function Unreadable({ of }: { of: Findings }) {
  if (!of.unreadable?.length) return null;
  return (
    <details class="note warn">
      <summary>{plural(of.unreadable.length, 'kind')} could not be read. What they could use is not called unused.</summary>
      <ul>{of.unreadable.map((each) => <li key={each.kind}><strong>{each.kind}</strong>: missing right <span class="mono">{each.missing}</span>. {each.effect}</li>)}</ul>
    </details>
  );
}

function Groups({ of, by, chosen, onChoose }: { of: Findings; by: Grouping; chosen?: string; onChoose: (name: string) => void }) {
  return (
    <div class="row" role="group" aria-label={`By ${groupings[by].toLowerCase()}`}>
      {of.groups.map((group) => (
        <button key={group.name} type="button" class={group.name === chosen ? 'small primary' : 'small'} aria-pressed={group.name === chosen} onClick={() => onChoose(group.name)}>
          {group.name || `no ${by}`} · {count(group.count)}{group.freesBytes > 0 && ` · ${bytes(group.freesBytes)}`}
        </button>
      ))}
    </div>
  );
}
