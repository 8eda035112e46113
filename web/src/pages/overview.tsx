// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { segment } from '../lib/api';
import { useLoad, useTitle } from '../lib/hooks';
import type { Attention, Overview } from '../lib/types';
import { bytes, count, plural } from '../lib/words';
import { Badge, Card, Empty, Head, Show, Time } from '../ui/basics';
import { Bars } from '../ui/chart';
import { RunTable } from '../ui/runs';

export function OverviewPage() {
  useTitle('Overview');
  const overview = useLoad<Overview>('overview');
  return (
    <>
      <Head title="Overview" lead="What needs a person, what runs next, and what was found." />
      <Show of={overview} what="the overview">{(data) => (data.cleaners === 0 ? <Welcome /> : <Content data={data} />)}</Show>
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

function Content({ data }: { data: Overview }) {
  return (
    <div class="stack">
      <Card title="Needs a person" aside={data.attention.length ? plural(data.attention.length, 'matter') : undefined}>
        {data.attention.length === 0
          ? <Empty title="Nothing needs you.">No plan waits for approval, and the last runs did what they should.</Empty>
          : <ul class="attention">{data.attention.map((item, i) => <Matter key={i} item={item} />)}</ul>}
      </Card>
      <div class="tiles">
        <div class="tile"><b>{count(data.cleaners)}</b><span>Cleaners{data.suspended > 0 && `, ${count(data.suspended)} suspended`}</span></div>
        <div class="tile"><b>{count(data.running)}</b><span>running now</span></div>
        <div class="tile"><b>{count(data.found)}</b><span>found in 30 days</span></div>
        <div class="tile"><b>{count(data.acted)}</b><span>acted on in 30 days</span></div>
        <div class="tile"><b>{bytes(data.freedBytes)}</b><span>freed in 30 days</span></div>
      </div>
      <div class="grid2">
        <Card title="Found and acted on" aside="per day, from the records that are kept">
          {data.days.some((day) => day.found || day.acted)
            ? <Bars what="Per day" showFreed bars={data.days.map((day) => ({
              label: dayLabel(day.day), title: `${day.day}: ${count(day.found)} found, ${count(day.acted)} acted on, ${bytes(day.freedBytes)} freed`,
              found: day.found, acted: day.acted, freed: day.freedBytes,
            }))} />
            : <Empty title="No run has found anything yet.">The chart begins with the first run.</Empty>}
        </Card>
        <Card title="Next runs">
          {data.next.length === 0 ? <Empty title="Nothing is due."><a href="/cleaners">All Cleaners are suspended, or have no schedule.</a></Empty> : (
            <ul class="lines">
              {data.next.map((next) => (
                <li key={next.cleaner}><span><a href={`/cleaners/${segment(next.cleaner)}`}>{next.cleaner}</a> <Badge word={next.action} /></span><span><Time at={next.time} /></span></li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      <Card title="Latest runs">
        {data.recent.length === 0 ? <Empty title="Nothing ran yet." /> : <RunTable runs={data.recent} caption="Latest runs" withCleaner />}
      </Card>
    </div>
  );
}

function dayLabel(day: string): string {
  const date = new Date(`${day}T00:00:00`);
  return Number.isNaN(date.getTime()) ? day : date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

function Matter({ item }: { item: Attention }) {
  const href = item.kind === 'plan' ? `/plans${item.run ? `#${segment(item.run)}` : ''}`
    : item.run ? `/runs/${segment(item.run)}` : item.cleaner ? `/cleaners/${segment(item.cleaner)}` : '/access';
  const label = item.kind === 'plan' ? 'Look at the plan' : item.run ? 'Look at the run' : item.cleaner ? 'Look at the Cleaner' : 'Look at access and health';
  return (
    <li>
      <div>
        <strong>{item.title}</strong>
        <p>{item.detail} {item.time && <Time at={item.time} />}</p>
      </div>
      <a class={item.kind === 'plan' ? 'button primary' : 'button'} href={href}>{label}</a>
    </li>
  );
}
