// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment, send } from '../lib/api';
import { useState } from 'preact/hooks';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Outcome, Page, Plan } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Badge, Card, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { Select } from '../ui/filters';
import { OutcomeTable } from '../ui/outcomes';
import { Pager } from '../ui/table';
import { useSay } from '../ui/toast';
import { denied } from './cleaner';

const limit = 20;

export function PlansPage() {
  useTitle('Plans');
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const state = params.state ?? 'Waiting';
  const plans = useLoad<Page<Plan>>(`plans${query({ state: state === 'any' ? '' : state, offset, limit })}`);
  return (
    <>
      <Head title="Plans" lead="A Cleaner with spec.approval writes down what it is going to do, and waits until a person who may has approved exactly that." />
      <div class="filters" role="search">
        <Select label="State" value={state} all="" options={['Waiting', 'Approved', 'Rejected', 'Expired', 'any']} onChange={(value) => change({ state: value, offset: undefined })} />
      </div>
      <Show of={plans} what="plans">
        {(data) => (data.items.length === 0 ? <Nothing state={state} /> : (
          <div class="stack">
            {data.items.map((plan) => <PlanCard key={plan.run} plan={plan} reload={plans.reload} />)}
            <Pager what="plans" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
          </div>
        ))}
      </Show>
    </>
  );
}

function Nothing({ state }: { state: string }) {
  return (
    <section class="card">
      {state === 'Waiting'
        ? <Empty title="No plan waits for you.">Set <span class="mono">spec.approval.mode: Required</span> on a Cleaner, and each of its runs asks here first.</Empty>
        : <Empty title="There is no such plan." />}
    </section>
  );
}

const verbs: Record<string, string> = { Delete: 'Delete', Transform: 'Change' };

export function PlanCard({ plan, reload }: { plan: Plan; reload: () => void }) {
  const [dialog, setDialog] = useState<'Approve' | 'Reject'>();
  const say = useSay();
  const what = `${verbs[plan.action] ?? plan.action} ${plural(plan.count, 'object')}`;
  const decide = (decision: string) => async (reason: string) => {
    await send('POST', `plans/${segment(plan.run)}/decision`, { decision, reason, planHash: plan.planHash });
    say(decision === 'Approve' ? `Approved: ${plan.cleaner} goes on.` : `Rejected: ${plan.cleaner} touches nothing.`);
    reload();
  };
  const waiting = plan.state === 'Waiting';
  return (
    <Card title={`${plan.cleaner}: ${what.toLowerCase()}`} aside={<><Badge word={plan.state} /> {waiting && plan.expires && <>expires <Time at={plan.expires} /></>}</>}>
      <div class="stack">
        <Facts items={[
          ['What', plan.kinds.map((k) => `${count(k.count)} ${k.kind}`).join(', ')],
          ['Planned', <Time at={plan.created} />],
          ['Decided by', plan.by],
          ['Reason', plan.reason],
          ['Run', <a href={`/runs/${segment(plan.run)}`}>{plan.run}</a>],
        ]} />
        <PlanObjects plan={plan} />
        {waiting && (
          <div class="row">
            <Action label="Approve" class="primary" missing={denied(plan.can.approve)} onClick={() => setDialog('Approve')} />
            <Action label="Reject" missing={denied(plan.can.approve)} onClick={() => setDialog('Reject')} />
          </div>
        )}
      </div>
      {dialog === 'Approve' && (
        <Confirm title={`${what}?`} confirm={what} danger typed={plan.cleaner} reason="optional" onConfirm={decide('Approve')} onClose={() => setDialog(undefined)}>
          <p>{plan.kinds.map((k) => `${count(k.count)} ${k.kind}`).join(', ')}. Every object is judged again first; what changed is left alone.</p>
        </Confirm>
      )}
      {dialog === 'Reject' && (
        <Confirm title="Reject the plan?" confirm="Reject" reason="required" onConfirm={decide('Reject')} onClose={() => setDialog(undefined)}>
          <p>Nothing is touched. The Cleaner plans again at its next run.</p>
        </Confirm>
      )}
    </Card>
  );
}

const objectsLimit = 25;

function PlanObjects({ plan }: { plan: Plan }) {
  const [open, setOpen] = useState(false);
  const [offset, setOffset] = useState(0);
  const page = useLoad<Page<Outcome>>(open ? `runs/${segment(plan.run)}/outcomes${query({ offset, limit: objectsLimit })}` : undefined, false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Show the {plural(plan.count, 'object')}</summary>
      {open && <Show of={page} what="the plan">{(data) => (
        <>
          <OutcomeTable rows={data.items} caption={`Objects in the plan of ${plan.cleaner}`} />
          <Pager what="objects" offset={offset} limit={objectsLimit} total={data.total} onOffset={setOffset} />
        </>
      )}</Show>}
    </details>
  );
}
