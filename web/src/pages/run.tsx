// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { exact, seconds } from '../lib/time';
import type { Outcome, Page, RunDetail, Stage } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Badge, Card, Empty, Facts, Head, Show, split, Time } from '../ui/basics';
import { Search, Select } from '../ui/filters';
import { OutcomeTable } from '../ui/outcomes';
import { Pager, Table } from '../ui/table';
import { useLocation } from 'preact-iso';
import { denied } from './cleaner';
import { PlanCard } from './plans';

export function RunPage({ name }: { name: string }) {
  const run = useLoad<RunDetail>(`runs/${segment(name)}`);
  const { route } = useLocation();
  useTitle(`Run ${name}`);
  const of = run.data;
  return (
    <>
      <Head title={of ? `Run of ${exact(of.time)}` : name}
        crumb={<><a href="/cleaners">Cleaners</a> / {of && <><a href={`/cleaners/${segment(of.cleaner)}`}>{of.cleaner}</a> /</>}</>}
        lead={of && <><Badge word={of.reason || of.phase || 'Running'} /> {of.message}</>}>
        {of && of.copies > 0 && (
          <Action label={`Restore from ${plural(of.copies, 'copy', 'copies')}`} missing={denied(of.can.restore)} onClick={() => route(`/runs/${segment(name)}/restore`)} />
        )}
      </Head>
      <Show of={run} what="the run">{(data) => <Content of={data} reload={run.reload} />}</Show>
    </>
  );
}

function Content({ of, reload }: { of: RunDetail; reload: () => void }) {
  return (
    <div class="stack">
      {of.plan?.state === 'Waiting' && <PlanCard plan={of.plan} reload={reload} />}
      {of.dryRunReason && <p class="note info">It only reported: {of.dryRunReason}.</p>}
      <Card title="Stages" aside={of.durationSeconds === undefined ? undefined : `took ${seconds(of.durationSeconds)}`}>
        <Stages stages={of.stages} />
        {of.progress && <Progress of={of.progress} />}
      </Card>
      <div class="tiles">
        <div class="tile"><b>{count(of.considered)}</b><span>looked at</span></div>
        <div class="tile"><b>{count(of.matched)}</b><span>matched</span></div>
        <div class="tile"><b>{count(of.acted)}</b><span>acted on</span></div>
        <div class="tile"><b>{count(of.skipped)}</b><span>left alone</span></div>
        <div class="tile"><b>{count(of.failed)}</b><span>failed</span></div>
      </div>
      <Outcomes of={of} />
      <div class="grid2">
        <Card title="New since the run before" aside={of.before && <a href={`/runs/${segment(of.before)}`}>the run before</a>}>
          {!of.before ? <Empty title="There is no run before." /> : of.freshCount === 0
            ? <Empty title="Nothing is new.">{of.goneCount > 0 && `${plural(of.goneCount, 'object')} of the run before did not match any more.`}</Empty>
            : (
              <>
                <p class="muted">{count(of.freshCount)} new, {count(of.goneCount)} no longer matched.</p>
                <OutcomeTable rows={of.fresh} caption="New since the run before" />
              </>
            )}
        </Card>
        <Card title="Notifications">
          {of.notifications.length === 0 ? <Empty title="The Cleaner tells nobody.">Add notifications to its spec to hear of its runs.</Empty> : (
            <Table caption="Notifications" rows={of.notifications} keyOf={(n) => n.name} columns={[
              { title: 'Name', cell: (n) => n.name },
              { title: 'Type', cell: (n) => n.type },
              { title: 'State', class: 'wrap', cell: (n) => <><Badge word={n.state} />{n.message && <div class="small muted">{n.message}</div>}</> },
            ]} />
          )}
        </Card>
      </div>
      <Card title="Details">
        <Facts items={[
          ['Record', <span class="mono">{of.name}</span>],
          ['Started by', of.trigger === 'Manual' ? 'a person' : 'its schedule'],
          ['Action', of.action],
          ['Time', <Time at={of.time} />],
        ]} />
      </Card>
    </div>
  );
}

const stateWords = { done: 'done', current: 'going on', failed: 'failed', waiting: 'waits for a person', todo: 'not yet' };

export function Stages({ stages }: { stages: Stage[] }) {
  return (
    <ol class="stages">
      {stages.map((stage) => (
        <li key={stage.name} class={stage.state} aria-current={stage.state === 'current' ? 'step' : undefined}>
          <b>{stage.name}</b>
          <span>{stateWords[stage.state]}{stage.durationSeconds !== undefined && `, ${seconds(stage.durationSeconds)}`}</span>
          {stage.start && <span><Time at={stage.start} /></span>}
          {stage.note && <span>{stage.note}</span>}
        </li>
      ))}
    </ol>
  );
}

function Progress({ of }: { of: NonNullable<RunDetail['progress']> }) {
  const text = `${split(of.phase)} ${of.kind ?? ''} ${count(of.done)}${of.total ? ` of ${count(of.total)}` : ''}, ${count(of.rate)} per second`;
  return <div role="status"><p>{text}</p>{of.total ? <progress value={of.done} max={of.total} aria-label={text} /> : null}</div>;
}

const limit = 50;

function Outcomes({ of }: { of: RunDetail }) {
  const [params, change] = useParams();
  const offset = Number(params.offset) || 0;
  const { outcome, search } = params;
  const page = useLoad<Page<Outcome>>(`runs/${segment(of.name)}/outcomes${query({ outcome, search, offset, limit })}`);
  const filter = (changes: Record<string, string>) => change({ ...changes, offset: undefined });
  return (
    <Card title="Outcomes" aside={of.outcomes.map((o) => `${count(o.count)} ${split(o.outcome).toLowerCase()}`).join(' · ')}>
      <div class="filters" role="search">
        <Search label="Object or reason" value={search} onChange={(value) => filter({ search: value })} />
        <Select label="Outcome" value={outcome} options={of.outcomes.map((o) => o.outcome)} onChange={(value) => filter({ outcome: value })} />
      </div>
      <Show of={page} what="outcomes">
        {(data) => (data.items.length === 0
          ? <Empty title={search || outcome ? 'No object is like that.' : 'No object matched.'} />
          : (
            <>
              <OutcomeTable rows={data.items} caption="Outcomes" />
              <Pager what="objects" offset={offset} limit={limit} total={data.total} onOffset={(value) => change({ offset: String(value || '') }, true)} />
            </>
          ))}
      </Show>
      {of.objectsOmitted ? <p class="muted small">The record does not list {plural(of.objectsOmitted, 'more object')}: kubectl cleaner runs {of.name} -o json lists what the run was going to touch.</p> : null}
    </Card>
  );
}
