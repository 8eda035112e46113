// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Page, Plan } from '../lib/types';
import { bytes, count } from '../lib/words';
import { Badge, Empty, Head, Show, Time } from '../ui/basics';
import { Pager, Table, type Column } from '../ui/table';

const limit = 50;

const columns: Column<Plan>[] = [
  { title: 'Plan', cell: (plan) => <a href={`/plans/${segment(plan.run)}`}><Time at={plan.time} /><span class="sr"> of {plan.cleaner}</span></a> },
  { title: 'Cleaner', class: 'name', cell: (plan) => <a href={`/cleaners/${segment(plan.cleaner)}`}>{plan.cleaner}</a> },
  { title: 'Would', cell: (plan) => <Badge word={plan.action} /> },
  { title: 'Objects', number: true, cell: (plan) => <>{count(plan.objects)}{plan.volumeBytes ? <div class="small muted">{bytes(plan.volumeBytes)} of volumes</div> : null}</> },
  { title: 'Expires', cell: (plan) => <Time at={plan.expires} /> },
  { title: 'You', class: 'wrap', cell: (plan) => (plan.decide.allowed ? 'may decide' : <>may look. Missing right: <span class="mono">{plan.decide.missing}</span></>) },
];

export function PlansPage() {
  useTitle('Plans');
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const plans = useLoad<Page<Plan>>(`plans${query({ cleaner: params.cleaner, offset, limit })}`);
  return (
    <>
      <Head title="Plans" lead="What Cleaners would do, once a person approves it. The plan that expires first is at the top." />
      <section class="card" aria-label="Plans">
        <Show of={plans} what="plans">
          {(data) => (!data.items?.length ? (
            <Empty title="No plan waits for you.">A Cleaner with spec.approval makes a plan in each run, and touches nothing before a person approves it.</Empty>
          ) : (
            <>
              <Table caption="Plans" rows={data.items} keyOf={(plan) => plan.run} columns={columns} />
              <Pager what="plans" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
            </>
          ))}
        </Show>
      </section>
    </>
  );
}
