// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Outcome, Page, PlanRow } from '../lib/types';
import { plural } from '../lib/words';
import { Action, Badge, Card, denied, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { OutcomeTable } from '../ui/outcomes';
import { Pager } from '../ui/table';
import { useSay } from '../ui/toast';

const limit = 20;

export function PlansPage() {
  useTitle('Plans');
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const plans = useLoad<Page<PlanRow>>(`plans${query({ offset, limit })}`);
  return (
    <>
      <Head title="Plans" lead="A Cleaner with spec.approval writes down what it is going to do, and waits until a person who may has approved exactly that." />
      <Show of={plans} what="plans">
        {(data) => (!data.items?.length ? (
          <section class="card">
            <Empty title="No plan waits for a person.">Set <span class="mono">spec.approval.mode: Required</span> on a Cleaner, and each of its runs asks here first.
              <div class="row"><a class="button" href="/runs">Look at past runs</a></div>
            </Empty>
          </section>
        ) : (
          <div class="stack">
            {[...data.items].sort((a, b) => Number(b.name === params.run) - Number(a.name === params.run))
              .map((plan) => <PlanCard key={plan.name} plan={plan} reload={plans.reload} opened={plan.name === params.run} />)}
            <Pager what="plans" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
          </div>
        ))}
      </Show>
    </>
  );
}

const verbs: Record<string, string> = { Delete: 'Delete', Transform: 'Change' };

export function PlanCard({ plan, reload, opened }: { plan: PlanRow; reload: () => void; opened?: boolean }) {
  const [dialog, setDialog] = useState<'Approve' | 'Reject'>();
  const say = useSay();
  const what = `${verbs[plan.action] ?? plan.action} ${plural(plan.planned, 'object')}`;
  const decide = (decision: 'Approve' | 'Reject') => async (reason: string) => {
    await send('POST', `plans/${segment(plan.name)}`, { decision, reason, planHash: plan.planHash });
    say(decision === 'Approve' ? `Approved: ${plan.cleaner} goes on.` : `Rejected: ${plan.cleaner} touches nothing.`);
    reload();
  };
  return (
    <Card title={`${plan.cleaner}: ${what.toLowerCase()}`} aside={<Badge word="AwaitingApproval" />}>
      <div class="stack">
        <Facts items={[
          ['Cleaner', <a href={`/cleaners/${segment(plan.cleaner)}`}>{plan.cleaner}</a>],
          ['Planned', <Time at={plan.time} />],
          ['Expires', plan.expires && <><Time at={plan.expires} />; then nothing is touched</>],
          ['Run', <a class="mono" href={`/runs/${segment(plan.name)}`}>{plan.name}</a>],
        ]} />
        <PlanObjects plan={plan} opened={opened} />
        <div class="row">
          <Action label="Approve …" class="primary" missing={denied(plan.decide)} onClick={() => setDialog('Approve')} />
          <Action label="Reject …" missing={denied(plan.decide)} onClick={() => setDialog('Reject')} />
        </div>
      </div>
      {dialog === 'Approve' && (
        <Confirm title={`${what}?`} confirm={what} danger typed={plan.cleaner} reason="optional" onConfirm={decide('Approve')} onClose={() => setDialog(undefined)}>
          <p>You approve exactly this plan. Every object is judged again first, and what changed is left alone.</p>
        </Confirm>
      )}
      {dialog === 'Reject' && (
        <Confirm title="Reject the plan?" confirm="Reject" reason="required" onConfirm={decide('Reject')} onClose={() => setDialog(undefined)}>
          <p>None of the {plural(plan.planned, 'object')} is touched. The Cleaner plans again at its next run.</p>
        </Confirm>
      )}
    </Card>
  );
}

const objectsLimit = 25;

function PlanObjects({ plan, opened = false }: { plan: PlanRow; opened?: boolean }) {
  const [open, setOpen] = useState(opened);
  const [offset, setOffset] = useState(0);
  const page = useLoad<Page<Outcome>>(open ? `runs/${segment(plan.name)}/outcomes${query({ offset, limit: objectsLimit })}` : undefined, false);
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Show the {plural(plan.planned, 'object')}</summary>
      {open && (
        <Show of={page} what="the plan">
          {(data) => (
            <>
              <OutcomeTable rows={data.items ?? []} caption={`Objects in the plan of ${plan.cleaner}`} />
              <Pager what="objects" offset={offset} limit={objectsLimit} total={data.total} onOffset={setOffset} />
            </>
          )}
        </Show>
      )}
    </details>
  );
}
