// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { useNamespace, useSession } from '../lib/session';
import { readable } from '../lib/time';
import type { Access, Channel, CheckLine, Page } from '../lib/types';
import { mergeChecks } from '../lib/words';
import { Card, Empty, Facts, Head, Lacking, Show } from '../ui/basics';
import { ChannelList } from '../ui/channels';
import { Search, Select } from '../ui/filters';
import { Paged, Table } from '../ui/table';

export function AccessPage() {
  useTitle('Access and health');
  const session = useSession();
  const [params, change] = useParams();
  const [namespace, inAddress] = useNamespace(params.namespace);
  const access = useLoad<Access>(`access${query({ namespace })}`);
  const setNamespace = (value: string) => change({ namespace: inAddress(value) });
  return (
    <>
      <Head title="Access and health" lead="Who you are here, what you may do, what is missing, and whether the operator works." />
      <div class="stack">
        <Card title="Who you are">
          <Facts items={[
            ['User', <span class="mono">{session.user}</span>],
            ['Groups', session.groups?.length ? <span class="mono">{session.groups.join(', ')}</span> : undefined],
            ['Signed in by', session.mode === 'Local' ? 'your kubeconfig' : 'a token'],
            ['Cluster', session.cluster && <span class="mono">{session.cluster}</span>],
            ['Page', session.version && `version ${session.version}`],
          ]} />
        </Card>
        <Show of={access} what="your rights">
          {(data) => (
            <Card title="What you may do" aside={summary(data)}>
              <div class="filters">
                {data.namespaces ? <Select label="In the namespace" asIs value={namespace} options={data.namespaces} onChange={setNamespace} />
                  : <Search label="In the namespace" value={namespace} placeholder="all" onChange={setNamespace} />}
              </div>
              <Rights of={data} />
            </Card>
          )}
        </Show>
        <Health />
        <AllChannels />
      </div>
    </>
  );
}

function summary(of: Access): string {
  const rights = of.rights ?? [];
  const missing = rights.filter((right) => !right.allowed).length;
  return missing === 0 ? 'nothing is missing' : `${missing} of ${rights.length} missing`;
}

function Rights({ of }: { of: Access }) {
  return (
    <Table caption="Rights" rows={of.rights ?? []} keyOf={(right) => right.id} columns={[
      { title: 'To', class: 'wrap', cell: (right) => right.text },
      { title: 'You', cell: (right) => <span class={`badge ${right.allowed ? 'good' : 'warn'}`}>{right.allowed ? 'may' : 'may not'}</span> },
      { title: 'Missing right', class: 'wrap', cell: (right) => (right.missing ? <Lacking right={right.missing} /> : <span class="muted">–</span>) },
    ]} />
  );
}

const limit = 20;

function AllChannels() {
  const [params, , turn] = useParams();
  const offset = Number(params.offset) || 0;
  const channels = useLoad<Page<Channel>>(`channels${query({ offset, limit })}`);
  return (
    <Card title="Channels" aside="where the notifications of Cleaners go">
      <Show of={channels} what="channels">
        {(data) => (
          <Paged of={data} what="channels" onOffset={turn}
            none={<Empty title="No Cleaner sends notifications.">Add notifications to the spec of a Cleaner to hear of its runs.</Empty>}>
            {(channels) => <ChannelList channels={channels} withCleaner />}
          </Paged>
        )}
      </Show>
    </Card>
  );
}

const words = { OK: 'fine', UNKNOWN: 'unknown', WARN: 'look at it', FAIL: 'does not work' };
const tones = { OK: 'good', UNKNOWN: 'plain', WARN: 'warn', FAIL: 'bad' };
const worst = ['FAIL', 'WARN', 'UNKNOWN', 'OK'];

function Health() {
  const doctor = useLoad<{ checks: CheckLine[] | null }>('doctor', false);
  return (
    <Card title="Health" aside={<button type="button" class="small" onClick={doctor.reload}>Check again</button>}>
      <Show of={doctor} what="health: the checks of kubectl cleaner doctor run">
        {({ checks }) => (!checks?.length ? <Empty title="There was nothing to check." /> : (
          <Table caption="Health" rows={mergeChecks(checks).sort((a, b) => worst.indexOf(a.status) - worst.indexOf(b.status))} keyOf={(line) => `${line.check} ${line.object} ${line.message}`} columns={[
            { title: 'State', cell: (line) => <span class={`badge ${tones[line.status] ?? ''}`}>{words[line.status] ?? line.status}</span> },
            { title: 'Check', class: 'wrap', cell: (line) => <>{line.check}{line.object && <div class="small mono">{line.object}</div>}</> },
            { title: 'What was found', class: 'wrap', cell: (line) => <>{readable(line.message)}{line.right && <div>Missing right: <Lacking right={line.right} /></div>}{line.wayOut && <div class="muted">{line.wayOut}</div>}</> },
          ]} />
        ))}
      </Show>
    </Card>
  );
}
