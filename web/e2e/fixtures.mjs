// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// What the fake server answers. Names and messages are hostile on purpose: they come from whoever may create objects.
// PRETTY=1 is for screenshots of the documentation.
export const evil = process.env.PRETTY ? 'legacy-banner' : '<img src=x onerror="window.hacked=1">';

const now = Date.now();
export const at = (minutes) => new Date(now + minutes * 60_000).toISOString();
const yes = { allowed: true };
const no = (missing) => ({ allowed: false, missing });

export const config = { mode: 'Token', loggedIn: true, version: 'v1.0.0', readOnly: false };
export const whoami = { user: 'ada@example.com', groups: ['team-shop', 'system:authenticated'], cluster: 'https://127.0.0.1:6443' };

const runOf = (cleaner, minutes, changes = {}) => ({
  name: `${cleaner}-${Math.floor((now + minutes * 60_000) / 1000)}`, cleaner, action: 'Delete', trigger: 'Schedule', phase: 'Completed',
  reason: 'Completed', time: at(minutes), durationSeconds: 2.4, considered: 214, matched: 9, acted: 7, skipped: 2, failed: 0, copies: 7, ...changes,
});
export const runs = [
  runOf('unused-configmaps', -12, { phase: 'Executing', reason: '', durationSeconds: undefined, acted: 4, skipped: 0, copies: 9 }),
  runOf('expired-marks', -45, { reason: 'PartiallyFailed', phase: 'Failed', failed: 1, acted: 6 }),
  runOf('paused-deployments', -60 * 5, { action: 'Transform', matched: 3, acted: 3, skipped: 0, copies: 3, trigger: 'Manual' }),
  runOf('unused-configmaps', -60 * 24, { matched: 12, acted: 11, skipped: 1 }),
  runOf('unused-configmaps', -60 * 48, { matched: 5, acted: 5, skipped: 0 }),
  runOf('old-volumes', -60 * 50, { action: 'Scan', matched: 31, acted: 0, skipped: 0, copies: 0 }),
  runOf('unused-configmaps', -60 * 72, { reason: 'LimitExceeded', phase: 'Failed', matched: 48, acted: 0, skipped: 48, copies: 0 }),
];

const words = { '0 3 * * *': 'every day at 03:00', '*/30 * * * *': 'every 30 minutes', '0 20 * * 1-5': 'Monday to Friday at 20:00', '0 4 * * 0': 'every Sunday at 04:00', '@hourly': 'every hour' };
const cleaner = (name, changes = {}) => {
  const row = { name, action: 'Delete', schedule: '0 3 * * *', suspended: false, state: 'Ready', next: at(60 * 7), ...changes };
  return { words: words[row.schedule], ...row };
};
const lastOf = ({ name, time, considered, matched, acted, skipped, failed }) => ({ name, time, considered, matched, acted, skipped, failed });
export const cleaners = [
  cleaner('unused-configmaps', { lastRun: lastOf(runs[0]), state: 'Running', activeRun: runs[0].name }),
  cleaner('expired-marks', { schedule: '*/30 * * * *', next: at(4), lastRun: lastOf(runs[1]), state: 'Failed', message: '1 of 9 objects failed: an admission webhook refused.' }),
  cleaner('paused-deployments', { action: 'Transform', schedule: '0 20 * * 1-5', lastRun: lastOf(runs[2]) }),
  cleaner('old-volumes', { scanUntil: at(60 * 24 * 8), schedule: '0 4 * * 0', next: at(60 * 70), lastRun: lastOf(runs[5]) }),
  cleaner('broken', { state: 'NotReady', message: 'spec.resourcePolicySet.resourceSelectors[0].evaluate: line 3: unexpected end', next: undefined }),
  cleaner('holidays', { suspended: true, state: 'Suspended', action: 'Scan' }),
  ...Array.from({ length: 60 }, (_, i) => cleaner(`team-${String(i).padStart(2, '0')}-pods`, { action: 'Scan', schedule: '@hourly', next: at(30 + i) })),
];

const object = (name, outcome, changes = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name, uid: `uid-${name}`, outcome, ...changes });
export const outcomes = [
  object('old-banner', 'Deleted', { message: 'Nothing has named it for 21 days', hasCopy: true }),
  object('theme-2023', 'Deleted', { message: 'Nothing has named it for 14 days', hasCopy: true }),
  object('promo-archive', 'Protected', { reason: 'protected: the annotation cleaner/protect is "true"' }),
  object(evil, 'Failed', { reason: `admission webhook "policy.example.com" denied the request: ${evil}` }),
  ...Array.from({ length: 70 }, (_, i) => object(`session-cache-${i}`, 'Deleted', { namespace: 'checkout', message: 'Nothing has named it for 30 days', hasCopy: true })),
];

export const plans = [
  {
    run: `expired-marks-${Math.floor(now / 1000) - 600}`, cleaner: 'expired-marks', hash: 'hash-1', action: 'Delete', time: at(-10), waits: true, objects: 3, volumeBytes: 5 * 2 ** 30, expires: at(60 * 20),
    leftAlone: 1, message: 'It waits for approval.', decide: yes,
  },
  {
    run: `paused-deployments-${Math.floor(now / 1000) - 900}`, cleaner: 'paused-deployments', hash: 'hash-2', action: 'Transform', time: at(-15), waits: true, objects: 2, expires: at(60 * 50),
    leftAlone: 0, message: 'It waits for approval.', decide: no('approve cleaners.apps.projectsveltos.io "paused-deployments"'),
  },
];
export const planned = {
  Delete: [object('old-banner', 'Planned', { message: 'Nothing has named it for 21 days' }), object(evil, 'Planned', { message: evil }), object('theme-2023', 'Planned', { message: 'Nothing has named it for 14 days' })],
  Transform: ['web', 'api'].map((name) => object(name, 'Planned', { apiVersion: 'apps/v1', kind: 'Deployment', change: '{"spec":{"replicas":0}}', message: 'It is marked to pause at night' })),
};

export const summary = {
  totalCleaners: cleaners.length, ready: 62, failing: 1, suspended: 1, running: 1, lastRun: at(-12),
  attention: [
    { level: 'waiting', cleaner: 'expired-marks', run: plans[0].run, reason: 'AwaitingApproval', message: `a plan of 3 objects waits for approval until ${plans[0].expires}` },
    { level: 'error', cleaner: 'expired-marks', run: runs[1].name, reason: 'PartiallyFailed', message: '1 of 9 objects failed: an admission webhook refused.', since: at(-45) },
    { level: 'warning', cleaner: 'broken', reason: 'InvalidExpression', message: `line 3: unexpected end ${process.env.PRETTY ? '' : evil}` },
  ],
  next: cleaners.filter((c) => c.next && !c.suspended).slice(0, 6).map((c) => ({ cleaner: c.name, time: c.next, action: c.action })),
  days: Array.from({ length: 30 }, (_, i) => {
    const matched = Math.max(0, Math.round(14 + 9 * Math.sin(i * 1.3) + (i % 5)));
    return { day: at((i - 29) * 1440).slice(0, 10), runs: 3, matched, acted: Math.round(matched * 0.7), failed: 0 };
  }).filter((_, i) => i % 7 !== 3),
  missing: null,
};

export const cleanerDetail = (row) => ({
  ...row,
  nextTimes: row.next ? [0, 1, 2, 3, 4].map((day) => at(60 * 7 + day * 1440)) : null,
  timeZone: 'Europe/Rome',
  guardrails: [
    { field: 'spec.blastRadiusLimit', text: 'At most 50 objects, and 10 % of what there is, in one run' },
    { field: 'finding.forSeconds', text: 'Found so for 14 days, in every run' },
    { field: 'spec.rollback', text: 'Copies are kept for 7 days' },
  ],
  selectors: ['ConfigMap objects, with the finding Unused'],
  conditions: row.state === 'NotReady' ? [{ type: 'Ready', status: 'False', reason: 'InvalidExpression', message: row.message, since: at(-500) }] : null,
  matches: row.lastRun ? outcomes.slice(0, 4) : null,
  history: runs.filter((run) => run.cleaner === row.name),
  scripts: [{ field: 'resourceSelectors[0].evaluate', language: 'Lua', text: `function evaluate()\n  -- ${evil}\n  hs = {}\n  hs.matching = obj.metadata.labels == nil\n  return hs\nend\n` }],
  yaml: `apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata:\n  name: ${row.name}\nspec:\n  schedule: "${row.schedule}"\n  action: ${row.action}\n`,
  channels: channels(row.name), missing: null,
  actions: { trigger: yes, suspend: yes, edit: no(`update cleaners.apps.projectsveltos.io "${row.name}"`), preview: yes },
});

const stageNames = ['Waited in the queue', 'Read and judged', 'Acted', 'Recorded', 'Notified'];
export const runDetail = (run) => {
  const goesOn = run.phase === 'Executing';
  return {
    ...run,
    stages: stageNames.map((name, i) => ({
      name, state: goesOn && i > 1 ? (i === 2 ? 'Active' : 'Pending') : run.failed && i === 2 ? 'Failed' : 'Done',
      time: goesOn && i > 2 || i > 3 ? undefined : at(-44 + i), tookSeconds: goesOn && i > 1 || i > 2 ? undefined : [0, 4, 72][i], text: i === 1 ? '214 objects, 9 matched' : undefined,
    })),
    conditions: null,
    outcomes: [{ outcome: 'Deleted', count: 72 }, { outcome: 'Protected', count: 1 }, { outcome: 'Failed', count: 1 }],
    notifications: [{ name: 'ops', type: 'Slack', state: 'Delivered' }, { name: 'mail', type: 'SMTP', state: 'Failed', message: '550 no such mailbox' }],
    ending: 'at the end of the run, 2 objects were still being deleted (Terminating).', before: runs[3].name, restore: yes,
  };
};

export const diff = {
  before: runs[3].name, new: 2, gone: 1, changed: 1, same: 70, total: 4, offset: 0, limit: 25,
  items: [
    { ...outcomes[0], change: 'new' }, { ...outcomes[3], change: 'new' }, { ...outcomes[2], change: 'changed', was: 'Deleted' },
    { ...object('old-cache', 'Deleted'), change: 'gone' },
  ],
};

export const restored = outcomes.filter((o) => o.hasCopy).map(({ apiVersion, kind, namespace, name }, i) => ({
  apiVersion, kind, namespace, name, ...(i % 3 === 1 ? { outcome: 'ChangedSince', step: 'PutBack', reason: 'somebody changed it since' } : { outcome: 'Planned', step: 'Create' }),
}));

const gib = 2 ** 30;
const finding = (kind, namespace, name, type, changes = {}) => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'v1', kind, namespace, name, uid: `uid-${kind}-${name}`, type, confidence: 'Likely', reason: 'Nothing names it.', created: at(-60 * 24 * 90), actionable: true, ...changes,
});
export const findings = [
  finding('PersistentVolumeClaim', 'shop', 'orders-archive', 'Unused', { frees: { volumeBytes: 20 * gib } }),
  finding('PersistentVolumeClaim', 'checkout', 'tmp-import', 'Unused', { frees: { volumeBytes: 8 * gib } }),
  finding('ConfigMap', 'shop', 'old-banner', 'Unused'),
  finding('ConfigMap', 'shop', evil, 'Unused', { reason: evil }),
  finding('Job', 'shop', 'nightly-27', 'Finished', { confidence: 'Certain', reason: 'It completed 12 days ago.' }),
  finding('Service', 'shop', 'legacy-api', 'Dangling', { actionable: false, reason: 'Its selector matches no Pod.', unknown: true, notReadable: [{ kind: 'Pod', forbidden: true }] }),
  ...Array.from({ length: 80 }, (_, i) => finding('ConfigMap', i % 2 ? 'shop' : 'checkout', `session-cache-${i}`, 'Unused', { managedBy: i % 9 === 0 ? 'Helm' : undefined })),
];
export const unread = [{ kind: 'Secret', resource: 'secrets', forbidden: true }];

export const why = (object) => {
  const [word, namespace, ...name] = object.split('/');
  const kind = word.split('.')[0];
  const found = findings.filter((f) => f.name === name.join('/'));
  const users = found.length ? null : [
    { kind: 'Pod', namespace: 'shop', name: 'storefront-7d9f', path: 'spec.volumes[0].configMap.name' },
    { kind: 'Deployment', group: 'apps', namespace: 'shop', name: 'checkout-with-a-very-long-name-that-is-cut', path: 'spec.template.spec.containers[0].envFrom[0].configMapRef.name', optional: true },
    { kind: 'CronJob', group: 'batch', namespace: 'shop', name: 'report', path: 'spec.jobTemplate.spec.template.spec.volumes[0].configMap.name', idle: true },
  ];
  return {
    apiVersion: 'v1', kind, namespace, name: name.join('/'), exists: true, created: at(-60 * 24 * 90), used: !found.length, users, findings: found,
    owner: '', searched: ['Pod', 'Deployment', 'StatefulSet', 'CronJob'], notReadable: null, cleaners: [{ name: 'unused-configmaps', action: 'Delete' }],
  };
};

export const channels = (cleaner) => [
  { cleaner, name: 'ops', type: 'Slack', test: yes },
  { cleaner, name: 'mail', type: 'SMTP', test: no('get secrets "mail" in shop') },
  { cleaner, name: 'report', type: 'CleanerReport' },
];

export const access = {
  namespaces: ['checkout', 'shop'],
  rights: [
    { id: 'cleaners.read', text: 'see Cleaners', allowed: true },
    { id: 'cleaners.create', text: 'make Cleaners', allowed: true },
    { id: 'copies.read', text: 'restore from copies', allowed: false, missing: 'list secrets in kubecleaner-system' },
  ],
};

export const activityMissing = [{ id: 'events.read', text: 'see what people did on this page', allowed: false, missing: 'list events in namespace default' }, { id: 'approvals.read', text: 'see who approved and rejected plans', allowed: false, missing: 'list cleanerapprovals.apps.projectsveltos.io' }];
export const activity = (params) => [
  { time: at(-50), by: 'ada@example.com', text: `suspended Cleaner ${evil}` },
  { time: at(-52), by: 'system:serviceaccount:a-team-with-a-long-name:grace', text: 'asked for a run of Cleaner unused-configmaps', run: runs[0].name },
  { time: at(-60), text: 'asked for the run', run: runs[1].name },
  ...Array.from({ length: 12 }, (_, i) => ({ time: at(-70 - i), by: 'ada@example.com', text: `cancelled run ${runs[2].name}`, run: runs[2].name })),
].filter((did) => !params.get('q') || `${did.by} ${did.text}`.includes(params.get('q')));

export const checks = [
  { status: 'OK', check: 'definitions', message: 'The CustomResourceDefinitions are those of this version.' },
  { status: 'WARN', check: 'schedules', object: 'Cleaner/broken', message: 'It is not Ready: line 3: unexpected end', wayOut: 'Correct spec.resourcePolicySet.' },
  { status: 'FAIL', check: 'webhooks', message: 'A webhook has no Service.', wayOut: 'Fix the Service.' },
];
