// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query, segment } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { readable } from '../lib/time';
import type { Why } from '../lib/types';
import { confidenceText, freesText, objectName, plural, unreadText } from '../lib/words';
import { Badge, Card, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { UseGraph } from '../ui/graph';
import { makeHref } from './findings';

export function WhyPage() {
  const [{ object = '' }] = useParams();
  const why = useLoad<Why>(`why${query({ object })}`, false);
  const [word = '', ...rest] = object.split('/');
  const name = `${word.split('.')[0]} ${rest.join('/')}`;
  useTitle(name);
  const finding = why.data?.findings?.find((each) => each.actionable);
  return (
    <>
      <Head title={name} crumb={<><a href="/findings">Findings</a> /</>} lead={why.data && <Badge word={verdict(why.data)} />}>
        {finding && <a class="button primary" href={makeHref(finding)}>Make a Cleaner</a>}
      </Head>
      <Show of={why} what="what uses it">{(data) => <Content of={data} />}</Show>
    </>
  );
}

/** verdict is the one word for it. What something may use, as far as is known, is Unknown, never Unused. */
export function verdict(of: Why): string {
  if (!of.exists) return of.unsure ? 'Unknown' : of.deletedBy ? 'Gone' : 'Missing';
  const worst = of.findings?.[0];
  if (worst) return worst.unknown ? 'Unknown' : worst.type;
  return of.used === null ? 'Unknown' : of.used ? 'Used' : 'NotUsed';
}

export function Content({ of }: { of: Why }) {
  const users = of.users ?? [];
  const searched = of.searched ?? [];
  return (
    <div class="stack">
      {of.deletedBy && <Deleted of={of.deletedBy} />}
      {of.unsure && <p class="note warn">You may not read it, so it is not known whether it exists: {of.unsure}</p>}
      {!of.exists && !of.unsure && !of.deletedBy && <p class="note bad">It does not exist, and no run that is on record deleted it. What names it names it in vain.</p>}
      {of.exempt && <p class="note info">KubeCleaner never calls it Unused: {of.exempt}</p>}
      {of.findings?.map((finding) => <p key={finding.type} class="note warn"><strong>{finding.unknown ? `Unknown, ${finding.type.toLowerCase()}?` : finding.type}{finding.confidence && ` (${finding.confidence})`}:</strong> {readable(finding.reason)}{!finding.unknown && confidenceText(finding.confidence) && <span class="small said">{finding.confidence}: {confidenceText(finding.confidence)}</span>}</p>)}
      {of.selects && <p class="note good">Its selector matches Pods: it is used, although nothing need name it.</p>}
      <Card title="Who uses it" aside={users.length ? plural(users.length, 'user') : undefined}>
        {users.length > 0 ? <UseGraph object={of} users={users} /> : (
          <Empty title={of.used === null ? 'Nobody can say.' : of.selects ? 'Nothing names it.' : 'Nothing uses it.'}>
            {of.used === null ? notKnown(of) : searchedText(searched.length)}
          </Empty>
        )}
        {of.nearest && <p class="note info">{objectName(of.nearest.user)} names <span class="mono">{of.nearest.name}</span>, which does not exist. Is it a typing error?</p>}
        {searched.length > 0 && <details><summary>What was searched</summary><p class="muted small">{searched.join(', ')}</p></details>}
      </Card>
      {of.notReadable && of.notReadable.length > 0 && (
        <Card title="What could not be read" aside="unknown is never called unused"><ul class="lines">{of.notReadable.map((each, i) => <li key={i}><span>{unreadText(each)}</span></li>)}</ul></Card>
      )}
      <div class="grid2">
        <Card title="What deleting it would free">
          <Frees of={of} />
        </Card>
        <Card title="About it">
          <Facts items={[
            ['Made', <Time at={of.created} />],
            ['Owner', of.owner || 'none'],
            ['Cleaners', of.cleaners?.length ? of.cleaners.map((c) => <div key={c.name}><a href={`/cleaners/${segment(c.name)}`}>{c.name}</a> may select it ({c.action})</div>) : of.cleanersUnread ? <>not known: {/forbidden|cannot list/.test(of.cleanersUnread) ? 'you may not list Cleaners' : of.cleanersUnread}</> : 'none selects it'],
          ]} />
        </Card>
      </div>
    </div>
  );
}

/** Frees says what there would be more of. Only of what was found it is known: nothing looked at what else holds. */
function Frees({ of }: { of: Why }) {
  const findings = of.findings ?? [];
  const texts = [...new Set(findings.map((each) => freesText(each.frees)).filter(Boolean))];
  if (texts.length > 0) return <ul class="lines">{texts.map((text) => <li key={text}><span>{text}</span></li>)}</ul>;
  if (findings.length > 0) return <Empty title="Nothing that is counted.">Deleting it tidies up, but frees no storage or load balancer.</Empty>;
  if (!of.exists && !of.unsure) return <Empty title="There is nothing to delete." />;
  const title = of.unsure || of.used === null ? 'This is not known.' : of.used ? 'It is in use.' : 'It was not found unused.';
  return <Empty title={title}>What deleting it would free was not looked at.</Empty>;
}

/** notKnown says why nobody can say whether something uses it: no right need be missing. */
function notKnown(of: Why): string {
  const why = of.notReadable?.length ? 'Something that could use it may not be read' : 'What was read does not show whether anything uses it';
  return `${why}; so it is never called unused.`;
}

/** searchedText says how far it was searched for users. */
export function searchedText(kinds: number): string {
  if (kinds === 0) return 'No kind is known that could name it.';
  return kinds === 1 ? 'The one kind that can name it was searched.' : `${plural(kinds, 'kind')} that can name it were searched.`;
}

function Deleted({ of }: { of: NonNullable<Why['deletedBy']> }) {
  return (
    <p class="note warn">
      <a href={`/cleaners/${segment(of.cleaner)}`}>{of.cleaner}</a> {of.unsure ? 'may have deleted it' : 'deleted it'} <Time at={of.at} />{of.why && `: ${of.why}`}.{' '}
      {of.restore ? <a href={`/runs/${segment(of.run)}/restore`}>Restore it</a> : <a href={`/runs/${segment(of.run)}`}>Look at the run</a>}
    </p>
  );
}
