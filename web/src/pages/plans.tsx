// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Page, Plan } from '../lib/types';
import { bytes, count } from '../lib/words';
import { Badge, Empty, Head, Show, Time } from '../ui/basics';
import { Paged, Table, type Column } from '../ui/table';

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
  const [params, , turn] = useParams();
  const offset = Number(params.offset) || 0;
  const plans = useLoad<Page<Plan>>(`plans${query({ cleaner: params.cleaner, offset, limit })}`);
  return (
    <>
      <Head title="Plans" lead="What Cleaners would do, once a person approves it. The plan that expires first is at the top." />
      <section class="card" aria-label="Plans">
        <Show of={plans} what="plans">
          {(data) => (
            <Paged of={data} what="plans" onOffset={turn}
              none={<Empty title="No plan waits for you.">A Cleaner with spec.approval makes a plan in each run, and touches nothing before a person approves it.</Empty>}>
              {(plans) => <Table caption="Plans" rows={plans} keyOf={(plan) => plan.run} columns={columns} />}
            </Paged>
          )}
        </Show>
      </section>
    </>
  );
}
