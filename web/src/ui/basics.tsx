// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { ApiError } from '../lib/api';
import { useNow } from '../lib/hooks';
import { exact, readable, relative } from '../lib/time';
import type { Allowed, Right } from '../lib/types';
import { roleOf, tone } from '../lib/words';

export function Time({ at, none = '–' }: { at?: string; none?: string }) {
  const now = useNow();
  if (!at) return <span class="muted">{none}</span>;
  return <time class="nowrap" dateTime={at} title={exact(at)}>{relative(at, now)}</time>;
}

export function Badge({ word }: { word: string | undefined }) {
  return word ? <span class={`badge ${tone(word)}`}>{split(word)}</span> : null;
}

/** split writes PartiallyFailed as "Partially failed", and new as "New". */
export function split(word: string): string {
  const words = (word.charAt(0).toUpperCase() + word.slice(1)).replace(/([a-z])([A-Z])/g, '$1 $2').split(' ');
  return words.map((part, i) => (i === 0 ? part : part.toLowerCase())).join(' ');
}

interface HeadProps { title: string; crumb?: ComponentChildren; lead?: ComponentChildren; children?: ComponentChildren }

export function Head({ title, crumb, lead, children }: HeadProps) {
  return (
    <header class="head">
      <div>
        {crumb && <div class="crumb">{crumb}</div>}
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p>{lead}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </header>
  );
}

interface CardProps { title: string; aside?: ComponentChildren; children: ComponentChildren }

export function Card({ title, aside, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header><h2 id={id}>{title}</h2>{aside && <p>{aside}</p>}</header>
      {children}
    </section>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><strong>{title}</strong>{children}</div>;
}

export function Loading({ what }: { what: string }) {
  return (
    <div role="status">
      <span class="sr">Loading {what}</span>
      <div class="skeleton" aria-hidden="true"><i /><i /><i /><i /></div>
    </div>
  );
}

/** Lacking is a right that is missing, and the role that gives it. */
export function Lacking({ right }: { right: string | undefined }) {
  const role = roleOf(right);
  const whose = role.includes('*') ? ' of KubeCleaner' : ', bound in that namespace,';
  return <><span class="mono">{right}</span>{role && <span class="small muted"> (<span class="mono">{role}</span>{whose} gives it)</span>}</>;
}

/** Failure says what went wrong, which right is missing, and what to do. */
export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  const missing = error instanceof ApiError ? error.missing : '';
  const hint = error instanceof ApiError ? error.hint : '';
  return (
    <div class={missing ? 'note warn' : 'note bad'} role="alert">
      <strong>{missing ? 'A right is missing' : 'This did not work'}</strong>
      <p>{readable(error.message)}</p>
      {missing && <p>Missing right: <Lacking right={missing} /></p>}
      {missing && <p class="small">An administrator can grant it; <a href="/access">Access and health</a> shows all rights.</p>}
      {hint && <p class="lines-kept">{hint}</p>}
      {retry && !missing && <p><button type="button" class="small" onClick={retry}>Try again</button></p>}
    </div>
  );
}

interface LoadedProps<T> {
  of: { data?: T; error?: Error; loading: boolean; reload: () => void };
  what: string;
  children: (data: T) => ComponentChildren;
}

/** Show shows what was loaded, or that it loads, or why it cannot. */
export function Show<T>({ of, what, children }: LoadedProps<T>) {
  if (of.data === undefined) return of.error ? <Failure error={of.error} retry={of.reload} /> : <Loading what={what} />;
  return (
    <div class={of.loading ? 'stale' : undefined} aria-busy={of.loading}>
      {of.error && <Failure error={of.error} retry={of.reload} />}
      {children(of.data)}
    </div>
  );
}

/** denied says why a person may not do something; undefined when they may. */
export function denied(of: Allowed | undefined): string | undefined {
  if (!of || of.allowed) return undefined;
  return of.missing ? `Missing right: ${of.missing}` : 'Your rights do not allow this.';
}

/** MissingRights names what is absent from a page, because the person may not read it. */
export function MissingRights({ rights, children }: { rights: Right[] | null; children?: ComponentChildren }) {
  if (!rights?.length) return null;
  return (
    <div class="note warn">
      <strong>Some of this page is not shown, because rights are missing.</strong>
      <ul>{rights.map((right) => <li key={right.id}>{right.text}: <Lacking right={right.missing} /></li>)}</ul>
      {children}
    </div>
  );
}

interface ActionProps {
  label: string;
  onClick: () => void;
  /** missing is the right that the person lacks, or another reason why the button does nothing. */
  missing?: string;
  class?: string;
  pressed?: boolean;
}

/** Action is a button. One that a person may not use stays in the tab order, and says why. */
export function Action({ label, onClick, missing, class: look = '', pressed }: ActionProps) {
  const id = useId();
  if (!missing) return <button type="button" class={look} aria-pressed={pressed} onClick={onClick}>{label}</button>;
  return (
    <span class="action">
      <button type="button" class={look} aria-disabled="true" aria-describedby={id} onClick={(e) => e.preventDefault()}>{label}</button>
      <small id={id}>{missing}</small>
    </span>
  );
}

export function Code({ text, label }: { text: string; label: string }) {
  return <pre class="code" tabIndex={0} role="group" aria-label={label}>{text}</pre>;
}

export function Facts({ items }: { items: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {items.filter(([, value]) => value !== undefined && value !== '' && value !== null && value !== false)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
    </dl>
  );
}
