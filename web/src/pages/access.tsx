// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { segment, send } from '../lib/api';
import { useState } from 'preact/hooks';
import { useLoad, useTitle } from '../lib/hooks';
import { useSession } from '../lib/session';
import type { Access } from '../lib/types';
import { bytes, count } from '../lib/words';
import { Action, Badge, Card, Empty, Facts, Head, Show, Time } from '../ui/basics';
import { Confirm } from '../ui/dialog';
import { Table } from '../ui/table';
import { useSay } from '../ui/toast';
import { denied } from './cleaner';

export function AccessPage() {
  useTitle('Access and health');
  const access = useLoad<Access>('access');
  const session = useSession();
  return (
    <>
      <Head title="Access and health" lead="Who you are here, what you may do, what is missing, and whether the operator works." />
      <div class="stack">
        <Card title="Who you are">
          <Facts items={[
            ['User', <span class="mono">{session.user}</span>],
            ['Groups', session.groups?.length ? <span class="mono">{session.groups.join(', ')}</span> : undefined],
            ['Namespaces', session.namespaces ? session.namespaces.join(', ') || 'none' : 'all'],
            ['Signed in by', session.local ? 'your kubeconfig' : 'a token'],
          ]} />
        </Card>
        <Show of={access} what="your rights">{(data) => <Content of={data} />}</Show>
      </div>
    </>
  );
}

function Content({ of }: { of: Access }) {
  const { operator, copies } = of;
  return (
    <>
      <Card title="What you may do" aside={`${count(of.rights.filter((right) => right.allowed).length)} of ${count(of.rights.length)}`}>
        <Table caption="Rights" rows={of.rights} keyOf={(right) => right.what} columns={[
          { title: 'To', class: 'wrap', cell: (right) => <>{right.what}<div class="small muted">{right.purpose}</div></> },
          { title: 'You', cell: (right) => <span class={`badge ${right.allowed ? 'good' : 'warn'}`}>{right.allowed ? 'may' : 'may not'}</span> },
          { title: 'Missing right', class: 'wrap', cell: (right) => (right.missing ? <span class="mono">{right.missing}</span> : <span class="muted">–</span>) },
        ]} />
      </Card>
      <div class="grid2">
        <Card title="Operator" aside={<Badge word={operator.ready ? 'Ready' : 'NotReady'} />}>
          <div class="stack">
            <Facts items={[['Version', operator.version], ['Leader', operator.leader], ['Message', operator.message]]} />
            {operator.checks.length > 0 && (
              <ul class="lines">
                {operator.checks.map((check) => (
                  <li key={check.name}><span>{check.name}{check.message && <div class="small muted">{check.message}</div>}</span>
                    <span><span class={`badge ${check.ok ? 'good' : 'bad'}`}>{check.ok ? 'fine' : 'needs work'}</span></span></li>
                ))}
              </ul>
            )}
          </div>
        </Card>
        <Card title="Copies" aside="of what was deleted or changed">
          <div class="stack">
            <Facts items={[['Objects', count(copies.objects)], ['Size', `${bytes(copies.bytes)} of at most ${bytes(copies.limitBytes)}`], ['Oldest', copies.oldest && <Time at={copies.oldest} />]]} />
            <progress value={copies.bytes} max={copies.limitBytes || 1} aria-label="Size of all copies, of the most there may be" />
          </div>
        </Card>
      </div>
      <Card title="Channels" aside="where runs are told">
        {of.channels.length === 0 ? <Empty title="No Cleaner tells anybody.">Add notifications to a Cleaner's spec.</Empty> : (
          <Table caption="Channels" rows={of.channels} keyOf={(c) => `${c.cleaner}/${c.name}`} columns={[
            { title: 'Channel', cell: (c) => <>{c.name}<div class="small muted">{c.type}</div></> },
            { title: 'Cleaner', cell: (c) => <a href={`/cleaners/${segment(c.cleaner)}`}>{c.cleaner}</a> },
            { title: 'Last message', class: 'wrap', cell: (c) => <><Badge word={c.state} /> <Time at={c.last} />{c.message && <div class="small muted">{c.message}</div>}</> },
            { title: 'Test', cell: (c) => <TestSend cleaner={c.cleaner} name={c.name} missing={denied(c.can)} /> },
          ]} />
        )}
      </Card>
    </>
  );
}

function TestSend({ cleaner, name, missing }: { cleaner: string; name: string; missing?: string }) {
  const [open, setOpen] = useState(false);
  const say = useSay();
  return (
    <>
      <Action label="Test send" class="small" missing={missing} onClick={() => setOpen(true)} />
      {open && (
        <Confirm title={`Send a test message to ${name}?`} confirm="Send" onClose={() => setOpen(false)}
          onConfirm={async () => { await send('POST', `cleaners/${segment(cleaner)}/notifications/${segment(name)}/test`); say(`A test message was sent to ${name}.`); }}>
          <p>Everybody who reads that channel sees it.</p>
        </Confirm>
      )}
    </>
  );
}
