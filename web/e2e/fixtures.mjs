// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// What the fake server answers. Names and messages are hostile on purpose: they come from whoever may create objects.
export const evil = '<img src=x onerror="window.hacked=1">';

const now = Date.now();
export const at = (minutes) => new Date(now + minutes * 60_000).toISOString();
const yes = { allowed: true };
const no = (missing) => ({ allowed: false, missing });

export const session = {
  user: 'ada@example.com', groups: ['team-shop', 'system:authenticated'], version: 'v1.0.0', cluster: 'demo', waiting: 1,
};

const runOf = (cleaner, minutes, changes = {}) => ({
  name: `${cleaner}-${Math.floor((now + minutes * 60_000) / 1000)}`, cleaner, action: 'Delete', trigger: 'Schedule', phase: 'Completed',
  reason: 'Completed', time: at(minutes), durationSeconds: 2.4, considered: 214, matched: 9, acted: 7, skipped: 2, failed: 0, copies: 7, ...changes,
});
export const runs = [
  runOf('unused-configmaps', -12, { phase: 'AwaitingApproval', reason: 'AwaitingApproval', durationSeconds: undefined, acted: 0, skipped: 0, copies: 0 }),
  runOf('expired-marks', -45, { reason: 'PartiallyFailed', phase: 'Failed', failed: 1, acted: 6 }),
  runOf('paused-deployments', -60 * 5, { action: 'Transform', matched: 3, acted: 3, skipped: 0, copies: 3, trigger: 'Manual' }),
  runOf('unused-configmaps', -60 * 24, { matched: 12, acted: 11, skipped: 1 }),
  runOf('unused-configmaps', -60 * 48, { matched: 5, acted: 5, skipped: 0 }),
  runOf('old-volumes', -60 * 50, { action: 'Scan', matched: 31, acted: 0, skipped: 0, copies: 0 }),
  runOf('unused-configmaps', -60 * 72, { reason: 'LimitExceeded', phase: 'Failed', matched: 48, acted: 0, skipped: 48, copies: 0 }),
];

const cleaner = (name, changes = {}) => ({ name, action: 'Delete', schedule: '0 3 * * *', suspended: false, ready: 'Scheduled', next: at(60 * 7), ...changes });
const lastOf = (run) => ({ run: run.name, time: run.time, reason: run.reason, matched: run.matched, acted: run.acted, failed: run.failed });
export const cleaners = [
  cleaner('unused-configmaps', { last: lastOf(runs[0]) }),
  cleaner('expired-marks', { schedule: '*/30 * * * *', next: at(4), last: lastOf(runs[1]) }),
  cleaner('paused-deployments', { action: 'Transform', schedule: '0 20 * * 1-5', timeZone: 'Europe/Rome', last: lastOf(runs[2]) }),
  cleaner('old-volumes', { action: 'Delete', scanUntil: at(60 * 24 * 8), schedule: '0 4 * * 0', next: at(60 * 70), last: lastOf(runs[5]) }),
  cleaner('broken', { ready: 'InvalidExpression', message: 'spec.resourcePolicySet.resourceSelectors[0].evaluate: line 3: unexpected end', next: undefined }),
  cleaner('holidays', { suspended: true, action: 'Scan' }),
  ...Array.from({ length: 60 }, (_, i) => cleaner(`team-${String(i).padStart(2, '0')}-pods`, { action: 'Scan', schedule: '@hourly', next: at(30 + i) })),
];

const object = (name, outcome, changes = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name, uid: `uid-${name}`, outcome, ...changes });
export const outcomes = [
  object('old-banner', 'Deleted', { message: 'Nothing has named it for 21 days', isNew: true, hasCopy: true }),
  object('theme-2023', 'Deleted', { message: 'Nothing has named it for 14 days', hasCopy: true }),
  object('promo-archive', 'Protected', { reason: 'protected: the annotation cleaner/protect is "true"' }),
  object(evil, 'Failed', { reason: `admission webhook "policy.example.com" denied the request: ${evil}`, isNew: true }),
  ...Array.from({ length: 70 }, (_, i) => object(`session-cache-${i}`, 'Deleted', { namespace: 'checkout', message: 'Nothing has named it for 30 days', hasCopy: true })),
];

export const plan = {
  run: runs[0].name, cleaner: 'unused-configmaps', action: 'Delete', count: 74, planHash: 'sha256:1234', created: at(-12), expires: at(60 * 71),
  state: 'Waiting', kinds: [{ kind: 'ConfigMap', count: 70 }, { kind: 'PersistentVolumeClaim', count: 4 }], can: { approve: yes },
};
export const plans = [
  plan,
  { ...plan, run: runs[5].name, cleaner: 'old-volumes', count: 3, planHash: 'sha256:5678', kinds: [{ kind: 'PersistentVolumeClaim', count: 3 }],
    can: { approve: no('approve cleaners/old-volumes (apps.projectsveltos.io)') } },
];

export const overview = {
  cleaners: cleaners.length, suspended: 1, running: 1, found: 412, acted: 287, freedBytes: 48.2 * 2 ** 30,
  attention: [
    { kind: 'plan', title: 'unused-configmaps waits for approval', detail: 'It is going to delete 74 objects; the plan expires in 3 days. Planned', cleaner: 'unused-configmaps', run: runs[0].name, time: at(-12) },
    { kind: 'failed', title: 'expired-marks: 1 of 9 objects failed', detail: 'An admission webhook refused.', cleaner: 'expired-marks', run: runs[1].name, time: at(-45) },
    { kind: 'notReady', title: 'broken is not ready', detail: 'InvalidExpression: line 3: unexpected end', cleaner: 'broken' },
  ],
  next: cleaners.filter((c) => c.next && !c.suspended).slice(0, 6).map((c) => ({ cleaner: c.name, time: c.next, action: c.action })),
  recent: runs.slice(0, 6),
  days: Array.from({ length: 30 }, (_, i) => {
    const found = Math.max(0, Math.round(14 + 9 * Math.sin(i * 1.3) + (i % 5)));
    return { day: at((i - 29) * 1440).slice(0, 10), found, acted: Math.round(found * 0.7), freedBytes: (i % 4) * 0.8 * 2 ** 30 };
  }),
};

export const cleanerDetail = (summary) => ({
  ...summary,
  nextTimes: summary.next && !summary.suspended ? [0, 1, 2, 3, 4].map((day) => at(60 * 7 + day * 1440)) : [],
  guardrails: [
    { name: 'Limit', value: 'at most 50 objects and 10 % in a run' },
    { name: 'Approval', value: 'a person approves each plan', note: 'a plan expires after 3 days' },
    { name: 'Seen for', value: '14 days, in every run' },
    { name: 'Copies', value: 'kept 7 days' },
  ],
  conditions: summary.ready === 'Scheduled' ? [] : [{ type: 'Ready', status: 'False', reason: summary.ready, message: summary.message }],
  matches: summary.last ? outcomes.slice(0, 4) : [],
  history: runs.filter((run) => run.cleaner === summary.name),
  scripts: [{ name: 'evaluate', language: 'Lua', text: `function evaluate()\n  -- ${evil}\n  hs = {}\n  hs.matching = obj.metadata.labels == nil\n  return hs\nend\n` }],
  yaml: `apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata:\n  name: ${summary.name}\nspec:\n  schedule: "${summary.schedule}"\n  action: ${summary.action}\n`,
  can: { run: yes, suspend: yes, delete: no('delete cleaners (apps.projectsveltos.io)') },
});

export const runDetail = (run) => ({
  ...run, message: run.reason === 'PartiallyFailed' ? '1 object failed: an admission webhook refused.' : '',
  stages: ['Read', 'Judge', 'Copy', 'Wait', 'Act', 'Tell'].map((name, i) => ({
    name, start: at(-44 + i), durationSeconds: run.phase === 'AwaitingApproval' && i > 2 ? undefined : 0.4 + i,
    state: run.phase === 'AwaitingApproval' ? (i < 2 ? 'done' : i === 3 ? 'waiting' : 'todo') : run.failed && i === 4 ? 'failed' : 'done',
  })),
  outcomes: [{ outcome: 'Deleted', count: 72 }, { outcome: 'Protected', count: 1 }, { outcome: 'Failed', count: 1 }],
  fresh: outcomes.filter((o) => o.isNew), freshCount: 2, goneCount: 5, before: runs[3].name,
  notifications: [{ name: 'ops', type: 'Slack', state: 'Delivered' }, { name: 'mail', type: 'SMTP', state: 'Failed', message: '550 no such mailbox' }],
  plan: plans.find((p) => p.run === run.name), can: { restore: yes },
});

export const copies = outcomes.filter((o) => o.hasCopy).map((o, i) => ({
  ...o, state: i % 3 === 1 ? 'Changed' : 'Gone',
  diff: i % 3 === 1 ? ' data:\n-  color: teal\n+  color: red' : '',
}));

const finding = (kind, namespace, name, type, changes = {}) => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'v1', kind, namespace, name, type, confidence: 'Likely', reason: 'Nothing names it.', owner: 'Deployment/checkout', age: at(-60 * 24 * 90), ...changes,
});
export const findings = [
  finding('PersistentVolumeClaim', 'shop', 'orders-archive', 'Unused', { freesBytes: 20 * 2 ** 30, owner: undefined }),
  finding('PersistentVolumeClaim', 'checkout', 'tmp-import', 'Unused', { freesBytes: 8 * 2 ** 30 }),
  finding('ConfigMap', 'shop', 'old-banner', 'Unused'),
  finding('ConfigMap', 'shop', evil, 'Unused', { reason: evil }),
  finding('Job', 'shop', 'nightly-27', 'Finished', { confidence: 'Certain', reason: 'It completed 12 days ago.' }),
  ...Array.from({ length: 80 }, (_, i) => finding('ConfigMap', i % 2 ? 'shop' : 'checkout', `session-cache-${i}`, 'Unused', { managedBy: i % 9 === 0 ? 'Helm' : undefined })),
];

export const why = (ref) => (ref.name === 'orders-archive' || ref.name === 'old-banner' || ref.name === evil ? {
  object: ref, verdict: 'Unused', confidence: 'Likely', reason: 'Nothing names it in 34 kinds that were searched.', paths: [],
  checked: ['Pods', 'Deployments', 'StatefulSets', 'CronJobs'], frees: [{ object: { kind: 'PersistentVolume', name: 'pv-12' }, bytes: 20 * 2 ** 30, note: 'reclaim policy Delete' }],
} : {
  object: ref, verdict: 'Used', confidence: 'Likely', reason: 'A Pod uses it.',
  paths: [
    [{ via: 'spec.volumes[0].configMap.name', from: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'storefront-7d9f' } },
      { via: 'metadata.ownerReferences[0]', from: { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'shop', name: 'storefront' } }],
    [{ via: 'spec.template.spec.volumes[0].configMap.name', from: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'checkout-with-a-very-long-name-that-is-cut' } }],
  ],
});

export const access = {
  rights: [
    { what: 'read Cleaners', purpose: 'the list of Cleaners', allowed: true },
    { what: 'approve plans', purpose: 'the page Plans', allowed: true },
    { what: 'delete Cleaners', purpose: 'the button Delete', allowed: false, missing: 'delete cleaners (apps.projectsveltos.io)' },
    { what: 'list Secrets in all namespaces', purpose: 'findings of Secrets', allowed: false, missing: 'list secrets' },
  ],
  operator: { version: 'v1.0.0', ready: true, leader: 'kubecleaner-7c9d', checks: [{ name: 'The definitions are those of this version', ok: true }, { name: 'The approval policy is in force', ok: false, message: 'The binding kubecleaner-approvals is missing; apply config/policy.' }] },
  channels: [{ name: 'ops', type: 'Slack', cleaner: 'unused-configmaps', state: 'Delivered', last: at(-12), can: yes },
    { name: 'mail', type: 'SMTP', cleaner: 'expired-marks', state: 'Failed', message: '550 no such mailbox', last: at(-45), can: no('create cleanernotificationtests') }],
  copies: { objects: 812, bytes: 34 * 2 ** 20, limitBytes: 256 * 2 ** 20, oldest: at(-60 * 24 * 6) },
};
