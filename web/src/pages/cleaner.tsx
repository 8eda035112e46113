// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { segment, send } from '../lib/api';
import { cronWords } from '../lib/cron';
import { useLoad, useTitle } from '../lib/hooks';
import { exact, seconds } from '../lib/time';
import type { CleanerDetail } from '../lib/types';
import { count, plural } from '../lib/words';
import { Action, Badge, Card, Code, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { Bars } from '../ui/chart';
import { Confirm } from '../ui/dialog';
import { OutcomeTable } from '../ui/outcomes';
import { RunTable } from '../ui/runs';
import { useSay } from '../ui/toast';

export function CleanerPage({ name }: { name: string }) {
  useTitle(name);
  const cleaner = useLoad<CleanerDetail>(`cleaners/${segment(name)}`);
  return (
    <>
      <Head title={name} crumb={<><a href="/cleaners">Cleaners</a> /</>}
        lead={cleaner.data && <><Badge word={cleaner.data.suspended ? 'Suspended' : cleaner.data.ready} /> {cleaner.data.message}</>}>
        {cleaner.data && <Actions of={cleaner.data} reload={cleaner.reload} />}
      </Head>
      <Show of={cleaner} what={`the Cleaner ${name}`}>{(data) => <Content of={data} />}</Show>
    </>
  );
}

function Actions({ of, reload }: { of: CleanerDetail; reload: () => void }) {
  const [dialog, setDialog] = useState<'run' | 'delete'>();
  const say = useSay();
  const { route } = useLocation();
  const path = `cleaners/${segment(of.name)}`;
  const suspend = () => {
    send('POST', `${path}/suspend`, { suspend: !of.suspended }).then(
      () => { say(of.suspended ? `${of.name} runs on its schedule again.` : `${of.name} is suspended.`); reload(); },
      (error: Error) => say(error.message),
    );
  };
  const matched = of.last?.matched ?? 0;
  return (
    <>
      <Action label="Run now" class="primary" missing={denied(of.can.run)} onClick={() => setDialog('run')} />
      <Action label={of.suspended ? 'Resume' : 'Suspend'} missing={denied(of.can.suspend)} onClick={suspend} />
      <Action label="Delete" class="danger" missing={denied(of.can.delete)} onClick={() => setDialog('delete')} />
      {dialog === 'run' && (
        <Confirm title={`Run ${of.name} now?`} confirm="Run now" danger={of.action !== 'Scan'} typed={of.action === 'Scan' ? undefined : of.name}
          onConfirm={async () => { await send('POST', `${path}/run`); say(`${of.name} was asked to run.`); reload(); }} onClose={() => setDialog(undefined)}>
          <p>{of.action === 'Scan' ? 'It only reports what it finds; nothing is touched.'
            : `Its action is ${of.action}. Its last run matched ${plural(matched, 'object')}; this run judges all objects again.`}</p>
        </Confirm>
      )}
      {dialog === 'delete' && (
        <Confirm title={`Delete the Cleaner ${of.name}?`} confirm="Delete the Cleaner" danger typed={of.name}
          onConfirm={async () => { await send('DELETE', path); say(`${of.name} was deleted.`); route('/cleaners'); }} onClose={() => setDialog(undefined)}>
          <p>It stops running. The {plural(of.history.length, 'record')} of its runs with copies stay until they expire, so what it deleted can still be restored.</p>
        </Confirm>
      )}
    </>
  );
}

export function denied(permission: { allowed: boolean; missing?: string } | undefined): string | undefined {
  if (permission?.allowed) return undefined;
  return permission?.missing ? `Missing right: ${permission.missing}` : 'Your rights do not allow this.';
}

function Content({ of }: { of: CleanerDetail }) {
  const runs = [...of.history].reverse();
  return (
    <div class="stack">
      {of.scanUntil && <p class="note info">It only reports until <Time at={of.scanUntil} /> ({exact(of.scanUntil)}). From then on its action is {of.action}.</p>}
      {of.conditions.filter((c) => c.status === 'False').map((c) => (
        <p key={c.type} class="note warn"><strong>{c.type} is not true: {c.reason}.</strong> {c.message}</p>
      ))}
      <div class="grid2">
        <Card title="Schedule">
          <Facts items={[
            ['Runs', cronWords(of.schedule) ?? 'on the schedule below'],
            ['Schedule', <span class="mono">{of.schedule}</span>],
            ['Time zone', of.timeZone],
            ['Action', of.action],
            ['Last run', of.last && <a href={`/runs/${segment(of.last.run)}`}><Time at={of.last.time} /></a>],
          ]} />
          <h3>Next runs, in your time</h3>
          {of.nextTimes.length === 0 ? <p class="muted">It is not due: {of.suspended ? 'it is suspended' : 'its schedule has no next time'}.</p> : (
            <ol class="lines">{of.nextTimes.map((at) => <li key={at}><span>{exact(at)}</span><span><Time at={at} /></span></li>)}</ol>
          )}
        </Card>
        <Card title="Guardrails" aside="what keeps it from doing too much">
          {of.guardrails.length === 0 ? <Empty title="It has none of its own.">The operator's own limits hold.</Empty>
            : <Facts items={of.guardrails.map((g) => [g.name, <>{g.value}{g.note && <div class="small muted">{g.note}</div>}</>])} />}
        </Card>
      </div>
      <Card title="Last matches" aside={of.last && <>from the run <Time at={of.last.time} /></>}>
        {of.matches.length === 0 ? <Empty title="The last run matched nothing." />
          : <OutcomeTable rows={of.matches} caption="Last matches" />}
        {of.last && of.last.matched > of.matches.length && (
          <p><a href={`/runs/${segment(of.last.run)}`}>All {count(of.last.matched)} in the run</a></p>
        )}
      </Card>
      <Card title="History">
        {runs.length === 0 ? <Empty title="It has not run yet.">{of.next && <>It runs <Time at={of.next} />.</>}</Empty> : (
          <div class="stack">
            {runs.length > 1 && <Bars what="Per run" bars={runs.map((run) => ({
              label: new Date(run.time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }),
              title: `${exact(run.time)}: ${count(run.matched)} found, ${count(run.acted)} acted on${run.durationSeconds === undefined ? '' : `, took ${seconds(run.durationSeconds)}`}`,
              found: run.matched, acted: run.acted,
            }))} />}
            <RunTable runs={of.history} caption="History" />
          </div>
        )}
      </Card>
      {of.scripts.map((script) => (
        <Card key={script.name} title={`Script: ${script.name}`} aside={script.language}><Code text={script.text} label={script.name} /></Card>
      ))}
      <Card title="YAML"><Code text={of.yaml} label="YAML" /></Card>
    </div>
  );
}
