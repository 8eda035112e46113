// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { segment, send } from '../lib/api';
import { useLoad, useTitle } from '../lib/hooks';
import { exact, readable, seconds } from '../lib/time';
import type { Accepted, CleanerDetail, RunRow } from '../lib/types';
import { count, freedText, plural } from '../lib/words';
import { Action, Badge, Card, Code, denied, Empty, Facts, Head, MissingRights, Show, Time } from '../ui/basics';
import { ActivityCard } from '../ui/activity';
import { Channels } from '../ui/channels';
import { Bars, type Bar } from '../ui/chart';
import { Confirm } from '../ui/dialog';
import { OutcomeTable } from '../ui/outcomes';
import { Preview } from '../ui/preview';
import { RunTable } from '../ui/runs';
import { useSay } from '../ui/toast';
import { YamlCard } from '../ui/yaml';

export function CleanerPage({ name }: { name: string }) {
  useTitle(name);
  const cleaner = useLoad<CleanerDetail>(`cleaners/${segment(name)}`);
  const of = cleaner.data?.name === name ? cleaner.data : undefined;
  return (
    <>
      <Head title={name} crumb={<><a href="/cleaners">Cleaners</a> /</>} lead={of && <><Badge word={of.state} /> {readable(of.message)}</>}>
        {of && <Actions of={of} reload={cleaner.reload} />}
      </Head>
      <Show of={{ ...cleaner, data: of }} what={`the Cleaner ${name}`}>{(data) => <Content of={data} reload={cleaner.reload} />}</Show>
    </>
  );
}

function Actions({ of, reload }: { of: CleanerDetail; reload: () => void }) {
  const [running, setRunning] = useState(false);
  const say = useSay();
  const path = `cleaners/${segment(of.name)}`;
  const post = (what: string, text: string, body?: unknown) => send('POST', `${path}/${what}`, body).then(() => { say(text); reload(); }, say);
  const acts = of.action !== 'Scan';
  return (
    <>
      <Action label="Run now" class="primary" missing={denied(of.actions.trigger)} onClick={() => setRunning(true)} />
      {of.activeRun && <Action label="Stop the run" class="danger" missing={denied(of.actions.trigger)} onClick={() => post('cancel', `The run of ${of.name} was asked to stop.`, { run: of.activeRun })} />}
      {of.suspended
        ? <Action label="Resume" missing={denied(of.actions.suspend)} onClick={() => post('resume', `${of.name} runs on its schedule again.`)} />
        : <Action label="Suspend" missing={denied(of.actions.suspend)} onClick={() => post('suspend', `${of.name} is suspended.`)} />}
      {running && (
        <Confirm title={`Run ${of.name} now?`} confirm="Run now" danger={acts && !needsApproval(of)} typed={acts && !needsApproval(of) ? of.name : undefined} onClose={() => setRunning(false)}
          onConfirm={async () => { const answer = await send<Accepted>('POST', `${path}/trigger`); say(answer?.message || `${of.name} was asked to run.`); reload(); }}>
          <p>{runText(of)}</p>
        </Confirm>
      )}
    </>
  );
}

/** needsApproval reports whether a run only makes a plan. */
export const needsApproval = (of: CleanerDetail) => Boolean(of.guardrails?.some((g) => g.field === 'spec.approval'));

/** runText says what a run now would do, before a person asks for it. */
export function runText(of: CleanerDetail): string {
  if (of.action === 'Scan') return 'It only reports what it finds. Nothing is touched.';
  const last = of.lastRun ? `Its last run matched ${plural(of.lastRun.matched, 'object')}; this run judges all objects again.` : 'It never ran: Preview shows what a run would find.';
  const approval = needsApproval(of) ? ' The run touches nothing: it leaves a plan, which a person must approve.' : '';
  return `Its action is ${of.action}. ${last}${approval}`;
}

function Content({ of, reload }: { of: CleanerDetail; reload: () => void }) {
  const matches = of.matches ?? [];
  return (
    <div class="stack">
      <MissingRights rights={of.missing} />
      {of.plan && <p class="note info">A plan of {plural(of.plan.objects, 'object')} waits for approval, and expires <Time at={of.plan.expires} />. <a href={`/plans/${segment(of.plan.run)}`}>Look at the plan</a></p>}
      {of.dryRunReason && <p class="note info">It only reports: {readable(of.dryRunReason)}.</p>}
      {of.scanUntil && <p class="note info">It only reports until {exact(of.scanUntil)} (<Time at={of.scanUntil} />){of.actsAs && <>. After that, its action is {of.actsAs}</>}.</p>}
      {of.conditions?.filter((c) => c.status === 'False').map((c) => (
        <p key={c.type} class="note warn"><strong>{c.type} is not true: {c.reason}.</strong> {readable(c.message)}</p>
      ))}
      <div class="grid2">
        <Schedule of={of} />
        <Card title="Guardrails" aside="what keeps it from doing too much">
          {!of.guardrails?.length ? <Empty title="It has none of its own.">The operator's own limits hold.</Empty>
            : <ul class="lines">{of.guardrails.map((g) => <li key={g.field}><span>{readable(g.text)}<div class="small muted mono">{g.field}</div></span></li>)}</ul>}
        </Card>
      </div>
      <Card title="Last matches" aside={of.lastRun && <>from the run <Time at={of.lastRun.time} /></>}>
        {matches.length === 0 ? <Empty title={of.lastRun ? 'The last run matched nothing.' : 'It has not run yet.'}>{!of.lastRun && 'Preview shows what a run would find now.'}</Empty>
          : <OutcomeTable rows={matches} caption="Last matches" />}
        {of.lastRun && of.lastRun.matched > matches.length && <p><a href={`/runs/${segment(of.lastRun.name)}`}>All {count(of.lastRun.matched)} in the run</a></p>}
      </Card>
      <Preview of={{ name: of.name }} forSeconds={of.forSeconds} missing={denied(of.actions.preview)} />
      <History of={of} />
      <ActivityCard of={{ cleaner: of.name }} />
      {of.scripts?.map((script) => (
        <Card key={script.field} title={`${script.language} expression`} aside={<span class="mono">{script.field}</span>}><Code text={script.text} label={script.field} /></Card>
      ))}
      <Channels channels={of.channels ?? []} />
      <YamlCard name={of.name} yaml={of.yaml} missing={denied(of.actions.edit)} saved={reload} />
    </div>
  );
}

function Schedule({ of }: { of: CleanerDetail }) {
  const times = of.nextTimes ?? [];
  return (
    <Card title="Schedule">
      <div class="stack">
        <Facts items={[
          ['Runs', of.words],
          ['Schedule', <span class="mono">{of.schedule}</span>],
          ['Time zone', of.timeZone],
          ['Action', of.action],
          ['Looks at', of.selectors?.map((text) => <div key={text}>{text}</div>)],
          ['Last run', of.lastRun && <a href={`/runs/${segment(of.lastRun.name)}`}><Time at={of.lastRun.time} /></a>],
        ]} />
        <div>
          <h3>Next runs, in your time</h3>
          {of.suspended && <p class="muted">It is suspended. Without that, it would run:</p>}
          {times.length === 0 ? <p class="muted">Its schedule has no next time.</p>
            : <ol class="lines">{times.map((at) => <li key={at}><span>{exact(at)}</span><span><Time at={at} /></span></li>)}</ol>}
        </div>
      </div>
    </Card>
  );
}

export function History({ of }: { of: CleanerDetail }) {
  const runs = of.history ?? [];
  return (
    <Card title="History">
      {runs.length === 0 ? <NoHistory of={of} /> : (
        <div class="stack">
          {runs.length > 1 && <Bars what="Per run" bars={runBars(runs)} />}
          <RunTable runs={runs} caption="History" />
        </div>
      )}
    </Card>
  );
}

function NoHistory({ of }: { of: CleanerDetail }) {
  if (of.missing?.some((right) => right.id === 'runs.read')) return <Empty title="This is not known.">You may not see runs.</Empty>;
  if (of.lastRun) return <Empty title="No run is on record any more." />;
  return <Empty title="It has not run yet.">{!of.suspended && of.next && <>It runs <Time at={of.next} />.</>}</Empty>;
}

/** runBars are the last runs, the oldest first. A day with more than one is named by its time. What a plan matched counts in the run that carries it out. */
export function runBars(runs: RunRow[]): Bar[] {
  const shown = runs.slice(0, 30).reverse();
  const dayOf = (run: RunRow) => new Date(run.time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return shown.map((run) => {
    const found = run.carriedOutBy ? 0 : run.matched;
    const day = dayOf(run);
    const alone = shown.filter((other) => dayOf(other) === day).length === 1;
    return {
      label: alone ? day : `${day} ${new Date(run.time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`,
      title: `${exact(run.time)}: ${run.carriedOutBy ? `a plan of ${plural(run.matched, 'object')}, which another run carries out` : `${count(found)} found`}, ${count(run.acted)} acted on${freedText(run.freedBytes)}${run.durationSeconds ? `, took ${seconds(run.durationSeconds)}` : ''}`,
      found, acted: run.acted, freed: run.freedBytes,
    };
  });
}
