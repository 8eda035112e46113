// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useLocation } from 'preact-iso';
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { clock, exact, readable, seconds } from '../lib/time';
import type { Change, Diff, Notified, Outcomes, RunDetail, Stage } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Badge, Card, denied, Empty, Facts, Head, Show, split, Time } from '../ui/basics';
import { ActivityCard } from '../ui/activity';
import { Search, Select } from '../ui/filters';
import { keyOf, ObjectLink, OutcomeTable, Unlisted } from '../ui/outcomes';
import { resultOf } from '../ui/runs';
import { Paged, Table } from '../ui/table';

export function RunPage({ name }: { name: string }) {
  const run = useLoad<RunDetail>(`runs/${segment(name)}`);
  const { route } = useLocation();
  useTitle(`Run ${name}`);
  const of = run.data?.name === name ? run.data : undefined;
  return (
    <>
      <Head title={of ? `Run of ${exact(of.time)}` : name}
        crumb={<><a href="/runs">Runs</a> / {of && <><a href={`/cleaners/${segment(of.cleaner)}`}>{of.cleaner}</a> /</>}</>}
        lead={of && <><Badge word={resultOf(of)} /> {readable(of.message)}</>}>
        {of?.copies ? (
          <Action label={`Restore from ${plural(of.copies, 'copy', 'copies')}`} missing={denied(of.restore)} onClick={() => route(`/runs/${segment(name)}/restore`)} />
        ) : null}
      </Head>
      <Show of={{ ...run, data: of }} what="the run">{(data) => <Content of={data} />}</Show>
    </>
  );
}

function Content({ of }: { of: RunDetail }) {
  return (
    <div class="stack">
      {of.phase === 'AwaitingApproval' && <p class="note info">Its plan waits for a person. <a href={`/plans/${segment(of.name)}`}>Look at the plan</a></p>}
      {of.stages?.some((stage) => stage.state === 'None') && <p class="note info">Its plan does not wait any more. <a href={`/plans/${segment(of.name)}`}>Look at the plan</a>{of.carriedOutBy && <> · <a href={`/runs/${segment(of.carriedOutBy)}`}>Look at the run that carries it out</a></>}</p>}
      {of.dryRun && <p class="note info">It was a dry run: nothing was touched.</p>}
      <Card title="Stages" aside={of.durationSeconds ? `took ${seconds(of.durationSeconds)}` : undefined}>
        <Stages stages={of.stages ?? []} />
        {of.progress && <Progress of={of.progress} />}
      </Card>
      <div class="tiles">
        <div class="tile"><b>{count(of.considered)}</b><span>looked at</span></div>
        <div class="tile"><b>{count(of.matched)}</b><span>matched</span></div>
        <div class="tile"><b>{count(of.acted)}</b><span>acted on</span></div>
        <div class="tile"><b>{count(of.skipped)}</b><span>left alone</span></div>
        <div class="tile"><b>{count(of.failed)}</b><span>failed</span></div>
      </div>
      <OutcomesCard of={of} />
      <Changes of={of} />
      <ActivityCard of={{ run: of.name }} />
      <div class="grid2">
        <Notifications of={of.notifications ?? []} />
        <Card title="Details">
          <Facts items={[
            ['Record', <span class="mono">{of.name}</span>],
            ['Started by', of.trigger === 'Manual' ? 'a person' : of.trigger === 'Approval' ? 'an approval' : 'its schedule'],
            ['Plan', of.plan && <a href={`/plans/${segment(of.plan)}`}>{of.plan}</a>],
            ['Approved by', of.approvedBy],
            ['Action', of.action],
            ['Time', <Time at={of.time} />],
            ['Copies', of.copies ? <>{count(of.copies)}, which {of.copies === 1 ? 'expires' : 'expire'} <Time at={of.copiesUntil} /></> : undefined],
            [of.plan ? 'Run before the plan' : 'Run before', of.before && <a href={`/runs/${segment(of.before)}`}>{of.before}</a>],
            ['Run after', of.after && <a href={`/runs/${segment(of.after)}`}>{of.after}</a>],
          ]} />
        </Card>
      </div>
    </div>
  );
}

const stateWords = { Done: 'done', Active: 'going on', Failed: 'failed', Pending: 'not yet', None: 'not by this run' };

export function Stages({ stages }: { stages: Stage[] }) {
  return (
    <ol class="stages">
      {stages.map((stage) => (
        <li key={stage.name} class={stage.state.toLowerCase()} aria-current={stage.state === 'Active' ? 'step' : undefined}>
          <b>{stage.name}</b>
          <span>{stateWords[stage.state]}{stage.tookSeconds !== undefined && `, took ${stage.tookSeconds ? seconds(stage.tookSeconds) : 'less than 1 s'}`}</span>
          {stage.time && <span><time dateTime={stage.time} title={exact(stage.time)}>{clock(stage.time)}</time></span>}
          {stage.text && <span>{readable(stage.text)}</span>}
        </li>
      ))}
    </ol>
  );
}

function Progress({ of }: { of: NonNullable<RunDetail['progress']> }) {
  const text = `${split(of.phase)} ${of.kind ?? ''} ${count(of.done)}${of.total ? ` of ${count(of.total)}` : ''}, ${count(of.rate)} per second`;
  return <div role="status"><p>{text}</p>{of.total ? <progress value={of.done} max={of.total} aria-label={text} /> : null}</div>;
}

const limit = 25;

function OutcomesCard({ of }: { of: RunDetail }) {
  const [params, change, turn] = useParams();
  const offset = Number(params.offset) || 0;
  const { outcome, namespace, q } = params;
  const page = useLoad<Outcomes>(`runs/${segment(of.name)}/outcomes${query({ outcome, namespace, q, offset, limit })}`);
  const filter = (changes: Record<string, string>) => change({ ...changes, offset: undefined });
  const outcomes = of.outcomes ?? [];
  return (
    <Card title="Outcomes" aside={outcomes.map((o) => `${count(o.count)} ${split(o.outcome).toLowerCase()}`).join(' · ')}>
      <div class="filters" role="search">
        <Search label="Object or reason" value={q} onChange={(value) => filter({ q: value })} />
        <Search label="Namespace" value={namespace} onChange={(value) => filter({ namespace: value })} />
        <Select label="Outcome" value={outcome} options={outcomes.map((o) => o.outcome)} onChange={(value) => filter({ outcome: value })} />
      </div>
      <Show of={page} what="outcomes">
        {(data) => (
          <>
            <Paged of={data} what="objects" onOffset={turn} none={<Empty title={q || outcome || namespace ? 'No object is like that.' : 'No object is listed.'} />}>
              {(rows) => <OutcomeTable rows={rows} caption="Outcomes" />}
            </Paged>
            <Unlisted why={data.unread} />
          </>
        )}
      </Show>
      {of.ending && <p class="note info">{of.ending}</p>}
    </Card>
  );
}

function Changes({ of }: { of: RunDetail }) {
  const diff = useLoad<Diff>(of.before ? `runs/${segment(of.name)}/diff?limit=25` : undefined);
  return (
    <Card title="New since the run before" aside={of.before && <a href={`/runs/${segment(of.before)}`}>the run before{of.plan && ' the plan'}</a>}>
      {!of.before ? <Empty title={`There is no run before${of.plan ? ' the plan' : ''} on record.`} /> : (
        <Show of={diff} what="the difference">
          {(data) => (<>
            {data.unknown > 0 && <p class="note warn">At least {plural(data.unknown, 'object')} cannot be compared: not all objects of both runs are stored.</p>}
            {!data.items?.length ? <Empty title={data.unknown > 0 ? 'Nothing is new among the others.' : 'Nothing is new.'}>{plural(data.same, 'object')} had the same outcome.</Empty> : (
            <>
              <p class="muted">{count(data.new)} new, {count(data.gone)} gone, {count(data.changed)} with another outcome, {count(data.same)} the same.</p>
              <Table<Change> caption="Difference to the run before" rows={data.items} keyOf={(row) => `${row.change} ${keyOf(row)}`} columns={[
                { title: 'Object', class: 'wrap', cell: (row) => <ObjectLink of={row} /> },
                { title: 'Change', cell: (row) => <Badge word={row.change} /> },
                { title: 'Outcome', cell: (row) => <><Badge word={row.outcome} />{row.was && <div class="small muted">was {split(row.was).toLowerCase()}</div>}</> },
                { title: 'Why', class: 'wrap', cell: (row) => row.message || row.reason },
              ]} />
              {data.total > data.items.length && <p class="muted">The first {data.items.length} of {count(data.total)} are shown.</p>}
            </>
            )}
          </>)}
        </Show>
      )}
    </Card>
  );
}

function Notifications({ of }: { of: Notified[] }) {
  return (
    <Card title="Notifications">
      {of.length === 0 ? <Empty title="No notifications were sent.">Add notifications to the Cleaner's spec to hear of its runs.</Empty> : (
        <Table caption="Notifications" rows={of} keyOf={(n) => n.name} columns={[
          { title: 'Name', cell: (n) => n.name },
          { title: 'Type', cell: (n) => n.type },
          { title: 'State', class: 'wrap', cell: (n) => <><Badge word={n.state} />{n.message && <div class="small muted">{readable(n.message)}</div>}{n.nextAttemptTime && <div class="small muted">again <Time at={n.nextAttemptTime} /></div>}</> },
        ]} />
      )}
    </Card>
  );
}
