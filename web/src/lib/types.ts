// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// What the server answers: pkg/dashboard/types.go and types_run.go. A list of Go may be null.

export interface Page<T> { items: T[] | null; total: number; offset: number; limit: number }
export interface Allowed { allowed: boolean; missing?: string }
export interface Right extends Allowed { id: string; text: string }
export interface ObjectRef { apiVersion?: string; kind: string; namespace?: string; name: string }
export interface Counts { considered: number; matched: number; acted: number; skipped: number; failed: number; freedBytes?: number }

export interface Config { mode: 'Token' | 'Local'; loggedIn: boolean; version: string; readOnly: boolean; namespace?: string }
export interface WhoAmI { user: string; groups: string[] | null; cluster: string }
export interface Access { namespace?: string; namespaces?: string[]; rights: Right[] | null }

export interface Attention { level: 'waiting' | 'error' | 'warning'; cleaner: string; run?: string; reason: string; message: string; since?: string }
export interface Day { day: string; runs: number; matched: number; acted: number; failed: number; freedBytes?: number }
export interface Summary {
  totalCleaners: number; ready: number; failing: number; suspended: number; running: number; lastRun?: string;
  attention: Attention[] | null; next: { cleaner: string; action: string; time: string }[] | null; days: Day[] | null; missing: Right[] | null;
}

export interface CleanerRow {
  name: string; action: string; state: string; message?: string; suspended: boolean; schedule: string; words?: string;
  next?: string; lastRun?: Counts & { name: string; time: string }; activeRun?: string; plan?: { run: string; objects: number; expires: string }; dryRunReason?: string; scanUntil?: string; actsAs?: string;
}
export interface Condition { type: string; status: string; reason: string; message: string; since: string }
export interface Outcome extends ObjectRef { uid?: string; outcome: string; reason?: string; message?: string; change?: string }
export interface CleanerDetail extends CleanerRow {
  nextTimes: string[] | null; timeZone?: string; forSeconds?: number; guardrails: { field: string; text: string }[] | null; selectors: string[] | null;
  scripts: { field: string; language: string; text: string }[] | null; conditions: Condition[] | null; matches: Outcome[] | null;
  history: RunRow[] | null; yaml: string; channels: Channel[] | null; missing: Right[] | null;
  actions: { trigger: Allowed; suspend: Allowed; edit: Allowed; preview: Allowed };
}
export interface Channel { cleaner: string; name: string; type: string; test?: Allowed }
export interface CleanerSaved { name: string; dryRun?: boolean; warnings?: string[] }

export interface RunRow extends Counts {
  name: string; cleaner: string; time: string; trigger: string; action: string; dryRun?: boolean; phase: string; reason?: string; message?: string;
  durationSeconds?: number; copies?: number; copiesUntil?: string;
  /** carriedOutBy is the run that carries out the plan of this one, and matches the same objects again. */
  carriedOutBy?: string;
}
export interface Stage { name: string; state: 'Done' | 'Active' | 'Failed' | 'Pending' | 'None'; time?: string; tookSeconds?: number; text?: string }
export interface Notified { name: string; type: string; state: string; attempts?: number; nextAttemptTime?: string; message?: string }
export interface RunDetail extends RunRow {
  stages: Stage[] | null; progress?: { phase: string; kind?: string; done: number; total?: number; rate: number };
  conditions: Condition[] | null; outcomes: { outcome: string; count: number }[] | null; notifications: Notified[] | null;
  plan?: string; approvedBy?: string; ending?: string; before?: string; after?: string; restore: Allowed;
}
export interface Outcomes extends Page<Outcome> { unread?: { error: string; hint?: string; missing?: string } }
export interface Change extends Omit<Outcome, 'change'> { change: string; was?: string }
export interface Diff extends Page<Change> { before: string; new: number; gone: number; changed: number; same: number; unknown: number }

export interface Compared { restores?: boolean; why?: string; live?: string; after: string; leftOut?: string[] }
export interface Activity { time: string; by?: string; text: string; run?: string }
export interface Activities extends Page<Activity> { missing: Right[] | null }
export interface Loss { warnings: string[] | null }

export interface Plan {
  run: string; cleaner: string; hash: string; action: string; trigger?: string; time: string; waits: boolean; objects: number; volumeBytes?: number; expires: string; leftAlone: number;
  message?: string; ended?: string; decidedBy?: string; decidedAt?: string; decidedWhy?: string; carriedOutBy?: string; warnings?: string[]; decide: Allowed;
}

export interface Restored extends ObjectRef { step?: string; outcome: string; reason?: string; notes?: string[] }
export interface RestorePlan { run: string; cleaner: string; dryRun?: boolean; objects: Restored[] | null }


export interface Frees { objects?: number; volumeBytes?: number; loadBalancers?: number }
export interface User { kind: string; group?: string; namespace?: string; name: string; path?: string; optional?: boolean; idle?: boolean; reads?: boolean }
export interface Unread { kind: string; group?: string; resource?: string; namespace?: string; name?: string; elsewhere?: boolean; forbidden: boolean; error?: string }
export interface Finding extends ObjectRef {
  type: string; uid: string; created?: string; since?: string; confidence?: string; reason: string; managedBy?: string; actionable: boolean;
  unknown?: boolean; users?: User[]; searched?: number; notReadable?: Unread[]; frees?: Frees;
}
export interface Findings extends Page<Finding> {
  groups: { key: string; count: number; frees: Frees }[] | null; unknown: number; unread: Unread[] | null; objects: number; kinds: number;
  frees: Frees; notCounted?: Record<string, number>; scanned: string; scope?: string;
}

export interface Why extends ObjectRef {
  exists: boolean; unsure?: string; created?: string; used: boolean | null; users: User[] | null; findings: Finding[] | null; owner?: string; exempt?: string;
  searched: string[] | null; notReadable: Unread[] | null; nearest?: { name: string; user: User };
  cleaners: { name: string; action: string }[] | null; cleanersUnread?: string; selects?: boolean;
  deletedBy?: { run: string; cleaner: string; at: string; why?: string; unsure?: boolean; restore?: string; until?: string };
}

export interface PreviewResult extends Counts {
  cleaner: string; action: string; wouldAct: number; leftAlone: number; incomplete?: string; limitExceeded?: string; more?: number;
  objects: (Outcome & { patch?: unknown })[] | null;
}

export interface CheckLine { status: 'OK' | 'UNKNOWN' | 'WARN' | 'FAIL'; check: string; object?: string; message: string; wayOut?: string }
export interface Accepted { name: string; request?: string; message: string }
export interface CommandResult { ok: boolean; output: string }
