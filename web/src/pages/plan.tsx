// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { useSession } from '../lib/session';
import { exact, readable } from '../lib/time';
import type { Outcome, Outcomes, Plan } from '../lib/types';
import { bytes, count, plural } from '../lib/words';
import { Action, Badge, Card, denied, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { ActivityCard } from '../ui/activity';
import { Confirm } from '../ui/dialog';
import { Search } from '../ui/filters';
import { keyOf, ObjectLink } from '../ui/outcomes';
import { Paged, Table, type Column } from '../ui/table';
import { useSay } from '../ui/toast';

export function PlanPage({ name }: { name: string }) {
  useTitle(`Plan ${name}`);
  const plan = useLoad<Plan>(`plans/${segment(name)}`);
  const of = plan.data?.run === name ? plan.data : undefined;
  return (
    <>
      <Head title={of ? `Plan of ${of.cleaner}` : name} crumb={<><a href="/plans">Plans</a> /</>} lead={of && (of.waits ? `It can be approved until ${exact(of.expires)}.` : 'It does not wait any more.')}>
        {of?.waits && <Decide of={of} decided={plan.reload} />}
      </Head>
      <Show of={{ ...plan, data: of }} what="the plan">{(data) => <Content of={data} />}</Show>
    </>
  );
}

/** does is what the plan does to its objects. */
const does = (of: Plan) => (of.action === 'Transform' ? 'changes' : 'deletes');

export function Decide({ of, decided }: { of: Plan; decided: () => void }) {
  const [asking, setAsking] = useState<'approve' | 'reject'>();
  const [said, setSaid] = useState('');
  const say = useSay();
  const session = useSession();
  if (said) return <p class="note info" role="status">{said}</p>;
  const decide = (how: 'approve' | 'reject') => async (reason: string) => {
    await send('POST', `plans/${segment(of.run)}/${how}`, { hash: of.hash, reason, user: session.user });
    const text = how === 'approve' ? 'You approved the plan. A run carries it out within seconds.' : 'You rejected the plan. Nothing is touched.';
    say(text);
    setSaid(text);
    decided();
  };
  const objects = plural(of.objects, 'object');
  return (
    <>
      <Action label="Approve …" class="primary" missing={denied(of.decide)} onClick={() => setAsking('approve')} />
      <Action label="Reject …" missing={denied(of.decide)} onClick={() => setAsking('reject')} />
      {asking === 'approve' && (
        <Confirm title="Approve this plan?" confirm="Approve" danger reason="optional" onConfirm={decide('approve')} onClose={() => setAsking(undefined)}>
          <p>A run {does(of)} {of.objects === 1 ? 'the object, if it still matches' : `those of the ${objects} that still match`}. Everything is judged again first, and nothing else is touched. What you say cannot be changed.</p>
          <Warnings of={of} />
        </Confirm>
      )}
      {asking === 'reject' && (
        <Confirm title="Reject this plan?" confirm="Reject" reason="required" onConfirm={decide('reject')} onClose={() => setAsking(undefined)}>
          <p>Nothing is touched. The next run makes another plan. What you say cannot be changed.</p>
        </Confirm>
      )}
    </>
  );
}

/** Warnings say what cannot be brought back, where a person decides. */
function Warnings({ of }: { of: Plan }) {
  return <>{of.warnings?.map((text) => <p key={text} class="note warn">{text}</p>)}</>;
}

/** EndNote says what became of a plan that does not wait any more. */
export function EndNote({ of }: { of: Plan }) {
  const by = <>{of.decidedBy ? <> by <strong>{of.decidedBy}</strong></> : ''}{of.decidedAt && ` at ${exact(of.decidedAt)}`}</>;
  // The message names the person and the run once more. Where the decision may not be read, only the message names them.
  const more = of.decidedBy && of.ended !== 'PlanNotApproved' ? of.decidedWhy && `Reason: ${of.decidedWhy}` : of.message;
  return (
    <p class="note info">
      {of.ended === 'Approved' ? <>Approved{by}; carried out by {of.carriedOutBy ? <a href={`/runs/${segment(of.carriedOutBy)}`}>run {of.carriedOutBy}</a> : 'another run'}.</>
        : of.ended === 'Rejected' ? <>Rejected{by}. Nothing was touched.</>
          : of.ended === 'Expired' ? <>Expired at {exact(of.expires)}: nobody approved it in time. Nothing was touched.</>
            : of.ended === 'Superseded' ? 'Superseded: it cannot be approved any more. This run touched nothing.'
              : of.ended === 'PlanNotApproved' && 'What was said of it does not count. Nothing was touched.'}
      {more && <span class="small said">{readable(more)}</span>}
    </p>
  );
}

export function Content({ of }: { of: Plan }) {
  const would = (n: number) => (of.waits ? 'would be' : n === 1 ? 'was to be' : 'were to be');
  return (
    <div class="stack">
      <Warnings of={of} />
      {!of.waits && <EndNote of={of} />}
      <div class="tiles">
        <div class="tile"><b>{count(of.objects)}</b><span>{would(of.objects)} {of.action === 'Transform' ? 'changed' : 'deleted'}</span></div>
        {of.volumeBytes ? <div class="tile"><b>{bytes(of.volumeBytes)}</b><span>of volumes {would(2)} freed</span></div> : null}
        <div class="tile"><b>{count(of.leftAlone)}</b><span>{would(of.leftAlone)} left alone</span></div>
      </div>
      <Objects of={of} />
      <Card title="About it">
        <Facts items={[
          ['Cleaner', <a href={`/cleaners/${segment(of.cleaner)}`}>{of.cleaner}</a>],
          ['Action', <Badge word={of.action} />],
          ['Made', <Time at={of.time} />],
          ['Asked for by', of.trigger && (of.trigger === 'Schedule' ? 'its schedule' : 'a person')],
          ['Expires', of.waits && <Time at={of.expires} />],
          ['Record', <a class="mono" href={`/runs/${segment(of.run)}`}>{of.run}</a>],
        ]} />
      </Card>
      <ActivityCard of={{ run: of.run }} />
    </div>
  );
}

const limit = 25;

function Objects({ of }: { of: Plan }) {
  const [params, change, turn] = useParams();
  const offset = Number(params.offset) || 0;
  const page = useLoad<Outcomes>(`runs/${segment(of.run)}/outcomes${query({ outcome: 'Planned', q: params.q, offset, limit })}`);
  const columns: Column<Outcome>[] = [
    { title: 'Object', class: 'wrap', cell: (row) => <ObjectLink of={row} /> },
    { title: of.action === 'Transform' ? 'Change' : 'Why', class: 'wrap', cell: (row) => <Because of={row} /> },
  ];
  const title = of.waits ? 'What it would touch' : 'What it was going to touch';
  return (
    <Card title={title}>
      <div class="filters" role="search"><Search label="Object or reason" value={params.q} onChange={(value) => change({ q: value, offset: undefined })} /></div>
      <Show of={page} what="objects">
        {(data) => (
          <Paged of={data} what="objects" onOffset={turn} none={<Empty title={params.q ? 'No object is like that.' : 'No object is listed.'} />}>
            {(rows) => <Table caption={title} rows={rows} keyOf={keyOf} columns={columns} />}
          </Paged>
        )}
      </Show>
    </Card>
  );
}

function Because({ of }: { of: Outcome }) {
  return <>{of.change && <div class="mono">{of.change}</div>}{of.message && <div>{readable(of.message)}</div>}{of.reason && <div class="muted">{readable(of.reason)}</div>}</>;
}
