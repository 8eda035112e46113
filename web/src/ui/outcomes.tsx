// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { query } from '../lib/api';
import { splitVersion } from '../lib/make';
import { readable } from '../lib/time';
import type { ObjectRef, Outcome, Outcomes } from '../lib/types';
import { Badge, Lacking } from './basics';
import { Table, type Column } from './table';

export function whyHref(o: ObjectRef): string {
  return `/why${query({ object: objectKey(o) })}`;
}

/** objectKey is how the server takes an object: KIND.GROUP/NAMESPACE/NAME, or KIND.GROUP/NAME without a namespace. Another kind of that name may be in another group: without the dot, the server takes all of them. */
export function objectKey(o: ObjectRef): string {
  const kind = o.apiVersion === undefined ? o.kind : `${o.kind}.${splitVersion(o.apiVersion).group}`;
  return [kind, o.namespace, o.name].filter(Boolean).join('/');
}

/** ObjectLink leads from any object to the page that says what uses it. */
export function ObjectLink({ of }: { of: ObjectRef }) {
  return <a href={whyHref(of)} title={of.apiVersion}><span class="muted">{of.kind}</span> {of.namespace && <>{of.namespace}/</>}{of.name}</a>;
}

const columns: Column<Outcome>[] = [
  { title: 'Object', class: 'wrap', cell: (row) => <ObjectLink of={row} /> },
  { title: 'Outcome', cell: (row) => <Badge word={row.outcome} /> },
  { title: 'Why', class: 'wrap', cell: (row) => <Reasons of={row} /> },
];

function Reasons({ of }: { of: Outcome }) {
  return <>{of.message && <div>{readable(of.message)}</div>}{of.reason && <div class={of.message ? 'muted' : undefined}>{readable(of.reason)}</div>}</>;
}

export function keyOf(o: ObjectRef): string { return [o.apiVersion, o.kind, o.namespace, o.name].join('/'); }

export function OutcomeTable({ rows, caption }: { rows: Outcome[]; caption: string }) {
  return <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} />;
}

/** Unlisted says why not all objects of a run are listed. */
export function Unlisted({ why }: { why: Outcomes['unread'] }) {
  if (!why) return null;
  return <p class="note warn">{readable(why.error)}.{' '}{why.missing ? <>Missing right: <Lacking right={why.missing} /></> : why.hint}</p>;
}
