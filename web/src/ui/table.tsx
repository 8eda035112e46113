// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Page } from '../lib/types';
import { count } from '../lib/words';
import { Loading } from './basics';

export interface Column<T> {
  title: string;
  /** sort is the word by which the server sorts; a column without it cannot be sorted. */
  sort?: string;
  number?: boolean;
  class?: string;
  cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
  /** sort is the column in the address, with a minus before it when the largest comes first. */
  sort?: string;
  onSort?: (sort: string) => void;
}

// The roles are those that the elements have anyway; on a phone they are laid out as blocks and would lose them.
export function Table<T>({ caption, columns, rows, keyOf, sort = '', onSort }: TableProps<T>) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={caption}>
      <table role="table">
        <caption class="sr">{caption}</caption>
        <thead role="rowgroup"><tr role="row">{columns.map((column) => <Header key={column.title} column={column} sort={sort} onSort={onSort} />)}</tr></thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={keyOf(row)}>
              {columns.map((column) => <td role="cell" key={column.title} data-label={column.title} class={column.number ? 'num' : column.class}><div>{column.cell(row)}</div></td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Header<T>({ column, sort, onSort }: { column: Column<T>; sort: string; onSort?: (sort: string) => void }) {
  const up = column.sort !== undefined && sort === column.sort;
  const down = column.sort !== undefined && sort === `-${column.sort}`;
  const look = column.number ? 'num' : undefined;
  if (!column.sort || !onSort) return <th role="columnheader" scope="col" class={look}>{column.title}</th>;
  return (
    <th role="columnheader" scope="col" class={look} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button type="button" onClick={() => onSort(up ? `-${column.sort}` : column.sort!)}>
        {column.title}<span aria-hidden="true">{up ? '↑' : down ? '↓' : '↕'}</span>
      </button>
    </th>
  );
}

interface PagedProps<T> {
  of: Page<T>;
  what: string;
  /** onOffset goes to another page; push is false where the person did not ask for it. */
  onOffset: (offset: number, push: boolean) => void;
  /** none is shown when the whole list is empty. */
  none: ComponentChildren;
  children: (items: T[]) => ComponentChildren;
}

/** Paged shows a page of a list. A list may have become shorter than the address says: then the last page is shown. */
export function Paged<T>({ of, what, onOffset, none, children }: PagedProps<T>) {
  const { offset, limit, total } = of;
  const items = of.items ?? [];
  const past = items.length === 0 && total > 0;
  useEffect(() => { if (past) onOffset(Math.floor((total - 1) / limit) * limit, false); }, [past, offset, total]);
  if (past) return <Loading what={what} />;
  if (items.length === 0) return <>{none}</>;
  return (
    <>
      {children(items)}
      <Pager what={what} offset={offset} limit={limit} total={total} onOffset={(value) => onOffset(value, true)} />
    </>
  );
}

interface PagerProps { offset: number; limit: number; total: number; what: string; onOffset: (offset: number) => void }

export function Pager({ offset, limit, total, what, onOffset }: PagerProps) {
  const from = total === 0 ? 0 : offset + 1;
  const to = Math.min(offset + limit, total);
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span role="status">{count(from)}–{count(to)} of {count(total)} {what}</span>
      {total > limit && (
        <span class="row">
          <button type="button" class="small" disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - limit))}>Previous</button>
          <button type="button" class="small" disabled={to >= total} onClick={() => onOffset(offset + limit)}>Next</button>
        </span>
      )}
    </nav>
  );
}
