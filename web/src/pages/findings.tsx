// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { get, query } from '../lib/api';
import { useLoad, useParams, useTitle } from '../lib/hooks';
import { useNamespace } from '../lib/session';
import { readable } from '../lib/time';
import type { Access, Finding, Findings } from '../lib/types';
import { confidenceText, count, freesText, plural, totalText, unreadText } from '../lib/words';
import { Action, Badge, Card, Empty, Head, Show, Time } from '../ui/basics';
import { Search, Select } from '../ui/filters';
import { ObjectLink } from '../ui/outcomes';
import { Paged, Table, type Column } from '../ui/table';

const columns: Column<Finding>[] = [
  { title: 'Object', class: 'wrap', cell: (row) => <ObjectLink of={row} /> },
  { title: 'Finding', cell: (row) => (row.unknown
    ? <><Badge word="Unknown" /><div class="small muted">{row.type}?</div></> : <><Badge word={row.type} /><div class="small muted" title={confidenceText(row.confidence)}>{row.confidence}</div></>) },
  { title: 'Why', class: 'wrap', cell: (row) => <>{readable(row.reason)}{row.managedBy && <div class="small muted">managed by {row.managedBy}</div>}</> },
  { title: 'Made', cell: (row) => <Time at={row.created} /> },
  { title: 'Would free', number: true, cell: (row) => freesText(row.frees) || '–' },
  { title: 'Next', class: 'nowrap', cell: (row) => (row.actionable
    ? <a href={makeHref(row)}>Make a Cleaner<span class="sr"> for what is like {row.name}</span></a> : <span class="muted">only reported</span>) },
];

const limit = 50;
const groupings = { kind: 'Kind', namespace: 'Namespace', owner: 'Owner', type: 'Finding' };
type Grouping = keyof typeof groupings;

export function makeHref(of: { apiVersion?: string; kind: string; namespace?: string; type?: string }): string {
  return `/make${query({ apiVersion: of.apiVersion, kind: of.kind, namespace: of.namespace, type: of.type })}`;
}

export function FindingsPage() {
  useTitle('Findings');
  const [params, change, turn] = useParams();
  const [scanning, setScanning] = useState(false);
  const offset = Number(params.offset) || 0;
  const { kind, owner, type, q, in: within } = params;
  const [namespace, inAddress] = useNamespace(params.namespace);
  const group: Grouping = params.group && params.group in groupings ? (params.group as Grouping) : 'kind';
  const findings = useLoad<Findings>(`findings${query({ namespace, in: within, kind, owner, type, q, group, offset, limit })}`, false);
  const scan = async () => {
    setScanning(true);
    // What is wrong with it, the page's own read says.
    await get(`findings${query({ namespace, limit: 1, refresh: true })}`).catch(() => {});
    setScanning(false);
    findings.reload();
  };
  // namespace says what is scanned; in only filters what a scan of all namespaces found.
  const field = group === 'namespace' ? 'in' : group;
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined });
  const filtered = Boolean(kind || owner || type || q || within);
  return (
    <>
      <Head title="Findings" lead="What nothing uses, what is finished, stuck or expired. Read from the cluster with your own rights; looking changes nothing.">
        <Action label={scanning ? 'Scanning …' : 'Scan again'} missing={scanning ? 'The cluster is being read.' : undefined} onClick={scan} />
      </Head>
      <div class="filters" role="search">
        <Search label="Name, kind or reason" value={q} onChange={(value) => filter({ q: value })} />
        <Select label="Finding" value={type} onChange={(value) => filter({ type: value })}
          options={['Unused', 'Dangling', 'Cascading', 'Finished', 'Failed', 'Idle', 'Stuck', 'Expired', 'CertificateExpired', 'Unhealthy']} />
        <Select label="Kind" asIs value={kind} options={findings.data?.groups?.filter(() => group === 'kind').map((each) => each.key) ?? []} onChange={(value) => filter({ kind: value })} />
        <NamespaceFilter value={namespace} onChange={(value) => filter({ namespace: inAddress(value) })} />
        <Select label="Group by" value={group} all="" options={Object.keys(groupings)} onChange={(value) => filter({ group: value })} />
      </div>
      <Show of={findings} what="findings: the cluster is being read">
        {(data) => (
          <div class="stack">
            <Unreadable of={data} />
            <Card title={data.kinds === 0 ? 'Findings' : `${plural(data.total, 'finding')}${filtered ? ' like that' : ''}${data.scope ? ` in ${data.scope}` : ''}${data.unknown > 0 ? `, ${count(data.unknown)} of them unknown` : ''}`}
              aside={<>{plural(data.objects, 'object')} of {plural(data.kinds, 'kind')} read <Time at={data.scanned} />{freed(data)}</>}>
              <div class="stack">
                <Paged of={data} what="findings" onOffset={turn} none={<Nothing filtered={filtered} of={data} onNamespace={(value) => filter({ namespace: inAddress(value) })} />}>
                  {(rows) => (
                    <>
                      <Groups of={data} by={group} chosen={params[field]} onChoose={(key) => filter({ [field]: key === params[field] ? undefined : key })} />
                      <Table caption="Findings" columns={columns} rows={rows} keyOf={(row) => `${row.uid} ${row.type}`} />
                      <p class="small muted">{[...new Set(rows.map((row) => row.confidence))].filter((word) => confidenceText(word)).map((word) => `${word}: ${confidenceText(word)} `)}</p>
                    </>
                  )}
                </Paged>
              </div>
            </Card>
          </div>
        )}
      </Show>
    </>
  );
}

/** NamespaceFilter is a list for who may list namespaces, and a field for who may not: one namespace is enough to work with. */
function NamespaceFilter({ value, onChange }: { value?: string; onChange: (value: string) => void }) {
  const access = useLoad<Access>('access', false);
  const names = access.data?.namespaces;
  if (!names) return <Search label="Namespace" value={value} placeholder="all" onChange={onChange} />;
  return <Select label="Namespace" value={value} asIs options={names} onChange={onChange} />;
}

export function Nothing({ filtered, of, onNamespace }: { filtered: boolean; of: Findings; onNamespace: (value: string) => void }) {
  if (of.kinds === 0) {
    return (
      <Empty title={of.scope ? `Nothing could be read in ${of.scope}.` : 'You may read only some namespaces, or none.'}>
        <Search label="Type a namespace that you may read" value={of.scope} onChange={onNamespace} />
      </Empty>
    );
  }
  if (filtered) return <Empty title="Nothing is like that."><a href="/findings">Show all findings</a></Empty>;
  if (of.unread?.length) return <Empty title="Nothing was found in what could be read.">{plural(of.unread.length, 'kind')} could not be read, so this does not say that everything is in use.</Empty>;
  return <Empty title="Nothing was found.">Everything that you may read is in use. Scan again later, or look at another namespace.</Empty>;
}

function freed(of: Findings): string {
  const text = totalText(of.frees, of.notCounted);
  return text && `; would free ${text}`;
}

function Unreadable({ of }: { of: Findings }) {
  if (!of.unread?.length) return null;
  return (
    <details class="note warn">
      <summary>{plural(of.unread.length, 'kind')} could not be read. What they could use is called unknown, never unused.</summary>
      <ul>{of.unread.map((each, i) => <li key={i}>{unreadText(each)}</li>)}</ul>
    </details>
  );
}

function Groups({ of, by, chosen, onChoose }: { of: Findings; by: Grouping; chosen?: string; onChoose: (key: string) => void }) {
  return (
    <div class="row" role="group" aria-label={`By ${groupings[by].toLowerCase()}`}>
      {of.groups?.map(({ key, count: n, frees }) => (
        <button key={key} type="button" class={key === chosen ? 'small primary' : 'small'} aria-pressed={key === chosen} onClick={() => onChoose(key)}>
          {key || `no ${by}`} · {count(n)}{freesText(frees) && ` · ${freesText(frees)}`}
        </button>
      ))}
    </div>
  );
}
