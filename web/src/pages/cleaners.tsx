// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { readable } from '../lib/time';
import type { CleanerRow, Page } from '../lib/types';
import { count } from '../lib/words';
import { Badge, Empty, Head, Show, Time } from '../ui/basics';
import { Search, Select } from '../ui/filters';
import { Paged, Table, type Column } from '../ui/table';

const columns: Column<CleanerRow>[] = [
  { title: 'Name', sort: 'name', class: 'name', cell: (row) => <a href={`/cleaners/${segment(row.name)}`}>{row.name}</a> },
  { title: 'State', class: 'mid', cell: (row) => <><Badge word={row.state} />{row.message && row.state !== 'Ready' && <div class="small muted">{readable(row.message)}</div>}</> },
  { title: 'Action', cell: (row) => <>{row.action}{row.scanUntil && <div class="small muted">reports only; acts <Time at={row.scanUntil} /></div>}</> },
  { title: 'Schedule', class: 'mid', cell: (row) => <span title={row.schedule}>{row.words || row.schedule}</span> },
  { title: 'Next run', sort: 'next', cell: (row) => <Time at={row.suspended ? undefined : row.next} none="not due" /> },
  { title: 'Last run', sort: 'last', cell: (row) => (row.lastRun ? <a href={`/runs/${segment(row.lastRun.name)}`}><Time at={row.lastRun.time} /></a> : <span class="muted">not yet</span>) },
  { title: 'Matched', sort: 'matched', number: true, cell: (row) => count(row.lastRun?.matched) },
  { title: 'Acted', sort: 'acted', number: true, cell: (row) => count(row.lastRun?.acted) },
];

const limit = 50;

export function CleanersPage() {
  useTitle('Cleaners');
  const [params, change, turn] = useParams();
  const offset = Number(params.offset) || 0;
  const { q, action, state, sort } = params;
  const cleaners = useLoad<Page<CleanerRow>>(`cleaners${query({ q, action, state, sort, offset, limit })}`);
  const filtered = Boolean(q || action || state);
  const filter = (changes: Record<string, string>) => change({ ...changes, offset: undefined });
  return (
    <>
      <Head title="Cleaners" lead="Each looks for certain objects on its schedule, and deletes, changes or only reports them.">
        <a class="button" href="/findings">Find what to clean</a>
      </Head>
      <section class="card" aria-label="Cleaners">
        <div class="filters" role="search">
          <Search label="Name" value={q} onChange={(value) => filter({ q: value })} />
          <Select label="Action" value={action} options={['Scan', 'Delete', 'Transform']} onChange={(value) => filter({ action: value })} />
          <Select label="State" value={state} options={['Ready', 'NotReady', 'Suspended', 'Running', 'Failed']} onChange={(value) => filter({ state: value })} />
        </div>
        <Show of={cleaners} what="Cleaners">
          {(data) => (
            <Paged of={data} what="Cleaners" onOffset={turn} none={<Nothing filtered={filtered} />}>
              {(rows) => <Table caption="Cleaners" columns={columns} rows={rows} keyOf={(row) => row.name} sort={sort} onSort={(value) => filter({ sort: value })} />}
            </Paged>
          )}
        </Show>
      </section>
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No Cleaner is like that."><a href="/cleaners">Show all Cleaners</a></Empty>;
  return (
    <Empty title="There is no Cleaner yet.">
      Start from what nobody uses, or apply a manifest with kubectl.
      <div class="row"><a class="button primary" href="/findings">See what is unused</a></div>
    </Empty>
  );
}
