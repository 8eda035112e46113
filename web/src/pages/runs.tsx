// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Page, RunRow } from '../lib/types';
import { Empty, Head, Show } from '../ui/basics';
import { Search, Select } from '../ui/filters';
import { RunTable } from '../ui/runs';
import { Paged } from '../ui/table';

const limit = 50;

export function RunsPage() {
  useTitle('Runs');
  const [params, change, turn] = useParams();
  const offset = Number(params.offset) || 0;
  const { cleaner, phase, q } = params;
  const runs = useLoad<Page<RunRow>>(`runs${query({ cleaner, phase, q, offset, limit })}`);
  const filter = (changes: Record<string, string>) => change({ ...changes, offset: undefined });
  return (
    <>
      <Head title="Runs" lead="What the Cleaners did, from the records that are kept, the latest first." />
      <section class="card" aria-label="Runs">
        <div class="filters" role="search">
          <Search label="Name or message" value={q} onChange={(value) => filter({ q: value })} />
          <Search label="Cleaner" value={cleaner} onChange={(value) => filter({ cleaner: value })} />
          <Select label="Phase" value={phase} options={['Running', 'Executing', 'AwaitingApproval', 'Completed', 'Failed', 'Interrupted']} onChange={(value) => filter({ phase: value })} />
        </div>
        <Show of={runs} what="runs">
          {(data) => (
            <Paged of={data} what="runs" onOffset={turn} none={(
              <Empty title={q || cleaner || phase ? 'No run is like that.' : 'Nothing ran yet.'}>
                {q || cleaner || phase ? <a href="/runs">Show all runs</a> : <a href="/cleaners">Run a Cleaner</a>}
              </Empty>
            )}>
              {(items) => <RunTable runs={items} caption="Runs" withCleaner />}
            </Paged>
          )}
        </Show>
      </section>
    </>
  );
}
