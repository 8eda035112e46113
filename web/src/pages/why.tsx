// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import type { Why } from '../lib/types';
import { bytes, objectName } from '../lib/words';
import { Badge, Card, Empty, Head, Show } from '../ui/basics';
import { UseGraph } from '../ui/graph';
import { keyOf, ObjectLink } from '../ui/outcomes';
import { makeHref } from './findings';

export function WhyPage() {
  const [{ apiVersion, kind = '', namespace, name = '' }] = useParams();
  const why = useLoad<Why>(`why${query({ apiVersion, kind, namespace, name })}`, false);
  useTitle(`${kind} ${name}`);
  return (
    <>
      <Head title={objectName({ kind, namespace, name })} crumb={<><a href="/findings">Findings</a> /</>}
        lead={why.data && <><Badge word={why.data.verdict} /> {why.data.confidence}</>}>
        {why.data && why.data.verdict !== 'Used' && why.data.verdict !== 'Unknown' && (
          <a class="button primary" href={makeHref({ apiVersion, kind, namespace, type: why.data.verdict })}>Make a Cleaner</a>
        )}
      </Head>
      <Show of={why} what="what uses it">{(data) => <Content of={data} />}</Show>
    </>
  );
}

function Content({ of }: { of: Why }) {
  return (
    <div class="stack">
      <p class={`note ${of.verdict === 'Used' ? 'good' : 'warn'}`}>{of.reason}</p>
      <Card title="What uses it">
        {of.paths.length === 0
          ? <Empty title="Nothing uses it.">{of.checked?.length ? `These were searched: ${of.checked.join(', ')}.` : ''}</Empty>
          : <UseGraph object={of.object} paths={of.paths} />}
      </Card>
      {of.unknown && of.unknown.length > 0 && (
        <Card title="What could not be read" aside="unknown is never called unused"><ul class="lines">{of.unknown.map((each) => <li key={each}><span>{each}</span></li>)}</ul></Card>
      )}
      <Card title="What deleting it would free">
        {!of.frees?.length ? <Empty title="Nothing that is counted.">Deleting it tidies up, but frees no storage.</Empty> : (
          <ul class="lines">
            {of.frees.map((each) => <li key={keyOf(each.object)}><span><ObjectLink of={each.object} /> {each.note}</span><span class="num">{each.bytes ? bytes(each.bytes) : ''}</span></li>)}
          </ul>
        )}
      </Card>
    </div>
  );
}
