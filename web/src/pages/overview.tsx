// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { segment } from '../lib/api';
import { useLoad, useTitle } from '../lib/hooks';
import { useSession } from '../lib/session';
import { readable } from '../lib/time';
import type { Attention, Day, Page, RunRow, Summary } from '../lib/types';
import { count, freedText, plural } from '../lib/words';
import { Badge, Card, Empty, Head, MissingRights, Show, split, Time } from '../ui/basics';
import { Bars } from '../ui/chart';
import { RunTable } from '../ui/runs';

export function OverviewPage() {
  useTitle('Overview');
  const summary = useLoad<Summary>('summary');
  return (
    <>
      <Head title="Overview" lead="What needs a person, what runs next, and what was found." />
      <Show of={summary} what="the overview">
        {(data) => (data.totalCleaners === 0 && !data.missing?.length ? <Welcome /> : <Content data={data} />)}
      </Show>
    </>
  );
}

function Welcome() {
  return (
    <section class="card">
      <Empty title="There is no Cleaner yet.">
        Look at what nobody uses first: finding it changes nothing. Then make a Cleaner for what you want gone.
        <div class="row"><a class="button primary" href="/findings">See what is unused</a></div>
      </Empty>
    </section>
  );
}

/** Tile is a number, or that it is not known: what may not be read is not zero. */
function Tile({ label, value, unknown }: { label: string; value: number; unknown: boolean }) {
  return <div class="tile"><b>{unknown ? <><span aria-hidden="true">–</span><span class="sr">not known</span></> : count(value)}</b><span>{label}</span></div>;
}

export function Content({ data }: { data: Summary }) {
  const { namespace } = useSession();
  const attention = data.attention ?? [];
  const next = data.next ?? [];
  const days = allDays(data.days ?? []);
  const unknown = (right: string) => Boolean(data.missing?.some((each) => each.id === right));
  const noCleaners = unknown('cleaners.read');
  const noRuns = unknown('runs.read');
  const sum = (key: 'matched' | 'acted') => days.reduce((total, day) => total + day[key], 0);
  return (
    <div class="stack">
      <MissingRights rights={data.missing}>
        {noCleaners && <p><a class="button" href="/findings">See what is unused in {namespace || 'your namespace'}</a></p>}
      </MissingRights>
      <Card title="Needs a person" aside={attention.length ? plural(attention.length, 'matter') : undefined}>
        {noCleaners ? <Empty title="This is not known.">You may not see Cleaners.</Empty> : attention.length === 0
          ? <Empty title="Nothing needs you.">The last runs did what they should.</Empty>
          : <ul class="attention">{attention.map((item, i) => <Matter key={i} item={item} />)}</ul>}
      </Card>
      <div class="tiles">
        <Tile unknown={noCleaners} value={data.totalCleaners} label={`Cleaners${data.suspended > 0 ? `, ${count(data.suspended)} suspended` : ''}`} />
        <Tile unknown={noCleaners} value={data.running} label="running now" />
        <Tile unknown={noCleaners} value={data.failing} label="with a failed last run" />
        <Tile unknown={noRuns} value={sum('matched')} label="matches of all runs in 30 days" />
        <Tile unknown={noRuns} value={sum('acted')} label="acted on in 30 days" />
      </div>
      <div class="grid2">
        <Card title="Found, acted on and freed" aside="per day, from the records that are kept: an object counts in each run that finds it">
          {noRuns ? <Empty title="This is not known.">You may not see runs.</Empty> : sum('matched') + sum('acted') > 0
            ? <Bars what="Per day" bars={days.map((day) => ({
              label: dayLabel(day.day), title: `${day.day}: ${count(day.matched)} found, ${count(day.acted)} acted on${freedText(day.freedBytes)}`,
              found: day.matched, acted: day.acted, freed: day.freedBytes,
            }))} />
            : <Empty title="No run has found anything yet.">The chart begins with the first run.</Empty>}
        </Card>
        <Card title="Next runs">
          {noCleaners ? <Empty title="This is not known.">You may not see Cleaners.</Empty> : next.length === 0 ? <Empty title="Nothing is due."><a href="/cleaners">Look at the Cleaners</a></Empty> : (
            <ul class="lines">
              {next.map((run) => (
                <li key={run.cleaner}>
                  <span><a href={`/cleaners/${segment(run.cleaner)}`}>{run.cleaner}</a> <Badge word={run.action} /></span><span><Time at={run.time} /></span>
                </li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      <Latest />
    </div>
  );
}

function Latest() {
  const runs = useLoad<Page<RunRow>>('runs?limit=6');
  return (
    <Card title="Latest runs" aside={<a href="/runs">All runs</a>}>
      <Show of={runs} what="runs">
        {(data) => (data.items?.length ? <RunTable runs={data.items} caption="Latest runs" withCleaner /> : <Empty title="Nothing ran yet." />)}
      </Show>
    </Card>
  );
}

/** allDays fills the days without a run, so that the chart's axis is time. */
export function allDays(days: Day[], last = new Date()): Day[] {
  const known = new Map(days.map((day) => [day.day, day]));
  return Array.from({ length: 30 }, (_, i) => {
    const day = new Date(last.getTime() - (29 - i) * 86_400_000).toISOString().slice(0, 10);
    return known.get(day) ?? { day, runs: 0, matched: 0, acted: 0, failed: 0 };
  });
}

function dayLabel(day: string): string {
  return new Date(`${day}T00:00:00`).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

function Matter({ item }: { item: Attention }) {
  const target = item.level === 'waiting' ? { href: `/plans/${segment(item.run!)}`, label: 'Look at the plan' } : item.run ? { href: `/runs/${segment(item.run)}`, label: 'Look at the run' }
      : { href: `/cleaners/${segment(item.cleaner)}`, label: 'Look at the Cleaner' };
  const tone = item.level === 'error' ? 'bad' : item.level === 'waiting' ? 'info' : 'warn';
  return (
    <li>
      <div>
        <strong>{item.cleaner}</strong> <span class={`badge ${tone}`}>{split(item.reason)}</span>
        <p>{readable(item.message)} {item.since && <Time at={item.since} />}</p>
      </div>
      <a class="button" href={target.href}>{target.label}<span class="sr"> of {item.cleaner}</span></a>
    </li>
  );
}
