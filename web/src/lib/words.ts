// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

import type { CheckLine, Frees, Unread } from './types';

const numberFormat = new Intl.NumberFormat('en');

export function count(n: number | undefined): string {
  return n === undefined ? '–' : numberFormat.format(n);
}

/** plural: plural(1, 'object') is "1 object", plural(2, 'object') is "2 objects". */
export function plural(n: number, word: string, words = `${word}s`): string {
  return `${count(n)} ${n === 1 ? word : words}`;
}

const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(n: number): string {
  let i = 0;
  while (n >= 1024 && i < sizes.length - 1) { n /= 1024; i++; }
  return `${n >= 100 || i === 0 ? Math.round(n) : Math.round(n * 10) / 10} ${sizes[i]}`;
}

/** freedText goes after other counts: ", 20 GiB freed". */
export function freedText(n: number | undefined): string { return n ? `, ${bytes(n)} freed` : ''; }

/** freesText is what there would be more of: "20 GiB, 1 load balancer". */
export function freesText(of: Frees | undefined): string {
  const parts: string[] = [];
  if (of?.volumeBytes) parts.push(bytes(of.volumeBytes));
  if (of?.loadBalancers) parts.push(plural(of.loadBalancers, 'load balancer'));
  return parts.join(', ');
}

/** totalText is what deleting all that was found would free, and what is not counted because a Cleaner leaves it alone. */
export function totalText(of: Frees, notCounted: Record<string, number> = {}): string {
  const left = Object.entries(notCounted).sort(([a], [b]) => b.localeCompare(a)).map(([why, n]) => `${count(n)} ${why}`); // what is protected first
  if (left.length === 0) return freesText(of);
  return `${freesText(of) || 'no storage or load balancer'} (not counted: ${left.join(', ')})`;
}

/** unreadText names a kind, or the object that declares references, that could not be read, and the right that is missing. */
export function unreadText(of: Unread): string {
  if (of.name) {
    const right = `get ${of.resource} "${of.name}" in ${of.namespace}`;
    return `References declared in ${objectName({ ...of, name: of.name })}: ${of.forbidden ? `missing right: ${right}` : of.error || 'they could not be read'}`;
  }
  const where = of.elsewhere ? ' in other namespaces' : of.namespace ? ` in ${of.namespace}` : '';
  const resource = of.resource ? `list ${of.resource}${of.group ? `.${of.group}` : ''}${where || ' in all namespaces'}` : '';
  return `${of.kind}${where}: ${of.forbidden ? `missing right: ${resource || 'list'}` : of.error || 'it could not be read'}`;
}

/** roleOf names the role that gives a right, of KubeCleaner or of the cluster, as people write it: "list cleaners.apps.projectsveltos.io". Empty when none does. What the * stands for is the name of the installation: kubecleaner, or what chart or kustomize put there. */
export function roleOf(right: string | undefined): string {
  const [, verb = '', resource = '', where = ''] = /^(\S+) (\S+)(?: "[^"]*")?( in namespace \S+)?$/.exec(right ?? '') ?? [];
  const of = /^(cleaners|cleanerruns|cleanerapprovals|reports)\.apps\.projectsveltos\.io$/.exec(resource)?.[1];
  const reads = ['get', 'list', 'watch'].includes(verb);
  if (verb === 'approve' || (of === 'cleanerapprovals' && verb === 'create')) return 'ClusterRole *-approver-role';
  if (of && reads) return 'ClusterRole *-cleaner-viewer-role';
  if (of === 'cleaners') return 'ClusterRole *-cleaner-editor-role';
  if (resource === 'secrets' && verb === 'get' && where) return `Role *-cleaner-restore-role${where}`;
  if (reads && resource === 'events' && where) return 'ClusterRole view';
  if (reads && !where && ['pods', 'configmaps', 'namespaces'].includes(resource)) return 'ClusterRole *-scan';
  return '';
}

/** deniedRight is the right that the API server says is missing, as people write it. */
export function deniedRight(message: string): string {
  const found = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/.exec(message);
  return found ? `${found[1]} ${found[2]}${found[3] && `.${found[3]}`}${found[4] ? ` in namespace ${found[4]}` : ''}` : '';
}

/** mergeChecks makes one line of all checks that lack the same right, or that say the same. */
export function mergeChecks(lines: CheckLine[]): (CheckLine & { right: string })[] {
  const merged = new Map<string, CheckLine & { right: string; checks: string[] }>();
  for (const line of lines) {
    const right = line.status === 'UNKNOWN' ? deniedRight(line.message) : '';
    const key = right || [line.status, line.object, line.message].join(' ');
    const same = merged.get(key);
    if (!same) merged.set(key, { ...line, right, checks: [line.check] });
    else {
      if (!same.checks.includes(line.check)) same.checks.push(line.check);
      if (right) { same.message = 'These checks cannot be made.'; same.object = undefined; }
    }
  }
  return [...merged.values()].map((line) => ({ ...line, check: line.checks.join(', ') }));
}

const confidences: Record<string, string> = {
  Certain: 'the object says so itself, or it is proved.',
  Likely: 'all known places were searched. A program could still read it through the API, which no search can see.',
  Weak: 'something may use it in a way that cannot be seen.',
};

/** confidenceText says what a word of confidence means. */
export function confidenceText(word: string | undefined): string { return confidences[word ?? ''] ?? ''; }

/** objectName is how an object is written everywhere: Kind namespace/name. */
export function objectName(o: { kind: string; namespace?: string; name: string }): string {
  return `${o.kind} ${o.namespace ? `${o.namespace}/` : ''}${o.name}`;
}

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

const tones: Record<string, Tone> = {
  Completed: 'good', Ready: 'good', Deleted: 'good', Transformed: 'good', Delivered: 'good',
  Restored: 'good', RestoredAlready: 'good', OK: 'good', Exists: 'info', ChangedSince: 'warn', NotRestored: 'warn', WARN: 'warn', FAIL: 'bad', new: 'info', gone: 'plain', changed: 'info', NotReady: 'bad', Scheduled: 'good', Same: 'good', Acted: 'good', Used: 'good',
  Failed: 'bad', PartiallyFailed: 'bad', Denied: 'bad', KindGone: 'bad', NotEvaluated: 'bad', Forbidden: 'bad',
  ViewIncomplete: 'bad', InvalidSchedule: 'bad', InvalidExpression: 'bad', UnknownKind: 'bad', Rejected: 'bad', Dangling: 'bad', Missing: 'bad',
  Interrupted: 'warn', LimitExceeded: 'warn', BudgetExhausted: 'warn', NotActed: 'warn',
  Unhealthy: 'bad', Unknown: 'plain', Conflict: 'warn', Expired: 'warn', Terminating: 'warn', Waiting: 'warn', Pending: 'warn', Delete: 'warn',
  Unused: 'warn', Stuck: 'warn', Abandoned: 'warn', Suspended: 'warn',
  Executing: 'info', Running: 'info', Matched: 'info', Planned: 'info', Transform: 'info', Scan: 'info', Acting: 'info', AwaitingApproval: 'info', Approved: 'good', Superseded: 'plain',
};

/** tone is the colour of a word. The word is always written beside it. */
export function tone(word: string | undefined): Tone {
  return (word && tones[word]) || 'plain';
}
