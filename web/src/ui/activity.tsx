// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment } from '../lib/api';
import { useLoad } from '../lib/hooks';
import { readable } from '../lib/time';
import type { Activities, Activity } from '../lib/types';
import { Card, Empty, MissingRights, Show, Time } from './basics';
import { Search } from './filters';
import { Paged, Table } from './table';

const limit = 10;

/** ActivityCard lists what people did with a Cleaner, or about a run. */
export function ActivityCard({ of }: { of: { cleaner: string } | { run: string } }) {
  const [q, setQ] = useState('');
  const [offset, setOffset] = useState(0);
  const page = useLoad<Activities>(`activity${query({ ...of, q, offset, limit })}`);
  const inRun = 'run' in of;
  return (
    <Card title="Who did what" aside="what people did, as far as it is on record">
      <Show of={page} what="what people did">
        {(data) => (
          <div class="stack">
            <MissingRights rights={data.missing} />
            {(data.total > limit || q) && <div class="filters" role="search" aria-label="What people did"><Search label="Person or action" value={q} onChange={(value) => { setQ(value); setOffset(0); }} /></div>}
            <Paged of={data} what="actions" onOffset={setOffset} none={<Empty title={q ? 'Nothing is like that.' : 'Nothing is on record.'}>Events of what people do are kept for about an hour, approvals as long as their run.</Empty>}>
              {(rows) => (
                <Table<Activity> caption="Who did what" rows={rows} keyOf={(did) => `${did.time} ${did.by} ${did.text} ${did.run}`} columns={[
                  { title: 'When', cell: (did) => <Time at={did.time} /> },
                  { title: 'Who', class: 'wrap', cell: (did) => did.by || <span class="muted">not known</span> },
                  { title: 'What', class: 'wrap', cell: (did) => <>{readable(did.text)}{did.run && !inRun && <div class="small"><a href={`/runs/${segment(did.run)}`}>{did.run}</a></div>}</> },
                ]} />
              )}
            </Paged>
          </div>
        )}
      </Show>
    </Card>
  );
}
