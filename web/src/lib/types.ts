// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// What the server answers: pkg/dashboard/types.go.

export interface Page<T> { items: T[]; total: number; offset: number; limit: number }

/** Permission is whether the person may do one thing; missing is the right that is not there. */
export interface Permission { allowed: boolean; missing?: string }

export interface ObjectRef { apiVersion?: string; kind: string; namespace?: string; name: string; uid?: string }

export interface Session {
  user: string;
  groups?: string[];
  /** local is true when the page runs on the person's own computer, with their kubeconfig. */
  local?: boolean;
  version?: string;
  cluster?: string;
  /** stopped says why no Cleaner acts: --dry-run, or the emergency stop. */
  stopped?: string;
  /** namespaces are those that the person may read, when it is not all of them. */
  namespaces?: string[];
  waiting?: number;
}

export interface Attention {
  kind: 'plan' | 'failed' | 'notReady' | 'notifications' | 'right' | 'other';
  title: string;
  detail?: string;
  cleaner?: string;
  run?: string;
  time?: string;
}

export interface Day { day: string; found: number; acted: number; freedBytes: number }

export interface Overview {
  cleaners: number; suspended: number; running: number;
  found: number; acted: number; freedBytes: number;
  attention: Attention[];
  next: { cleaner: string; time: string; action: string }[];
  recent: RunSummary[];
  days: Day[];
}

export interface CleanerSummary {
  name: string; action: string; schedule: string; timeZone?: string; suspended: boolean;
  ready: string; message?: string; next?: string; scanUntil?: string;
  last?: { run: string; time: string; reason: string; matched: number; acted: number; failed: number };
}

export interface Outcome extends ObjectRef { outcome: string; reason?: string; message?: string; isNew?: boolean; hasCopy?: boolean }

export interface RunSummary {
  name: string; cleaner: string; action: string; trigger: string; phase: string; reason?: string;
  time: string; durationSeconds?: number;
  considered: number; matched: number; acted: number; skipped: number; failed: number; copies: number;
}

export interface CleanerDetail extends CleanerSummary {
  nextTimes: string[];
  guardrails: { name: string; value: string; note?: string }[];
  conditions: { type: string; status: string; reason: string; message?: string; time?: string }[];
  matches: Outcome[];
  history: RunSummary[];
  scripts: { name: string; language: string; text: string }[];
  yaml: string;
  can: { run: Permission; suspend: Permission; delete: Permission };
}

export interface Stage { name: string; state: 'done' | 'current' | 'failed' | 'waiting' | 'todo'; start?: string; durationSeconds?: number; note?: string }

export interface RunDetail extends RunSummary {
  message?: string; dryRunReason?: string;
  stages: Stage[];
  progress?: { phase: string; kind?: string; done: number; total?: number; rate: number };
  outcomes: { outcome: string; count: number }[];
  fresh: Outcome[]; freshCount: number; goneCount: number; before?: string;
  notifications: { name: string; type: string; state: string; message?: string; attempts?: number }[];
  objectsOmitted?: number;
  plan?: Plan;
  can: { restore: Permission };
}

export interface Plan {
  run: string; cleaner: string; action: string; count: number; planHash: string;
  created: string; expires?: string; state: string; by?: string; reason?: string;
  kinds: { kind: string; count: number }[];
  can: { approve: Permission };
}

export interface Copy extends ObjectRef { state: string; note?: string; diff?: string }

export interface Finding extends ObjectRef {
  type: string; confidence: string; reason: string; owner?: string; age?: string; freesBytes?: number; managedBy?: string;
}

export interface Findings extends Page<Finding> {
  groups: { name: string; count: number; freesBytes: number }[];
  freesBytes: number;
  unreadable?: { kind: string; missing: string; effect: string }[];
  time?: string;
}

export interface Why {
  object: ObjectRef; verdict: string; confidence: string; reason: string; frees?: { object: ObjectRef; bytes?: number; note?: string }[];
  paths: { via: string; from: ObjectRef }[][];
  checked?: string[];
  unknown?: string[];
}

export interface Access {
  rights: { what: string; purpose: string; allowed: boolean; missing?: string }[];
  operator: { version?: string; ready: boolean; message?: string; leader?: string; checks: { name: string; ok: boolean; message?: string }[] };
  channels: { name: string; type: string; cleaner: string; last?: string; state: string; message?: string; can: Permission }[];
  copies: { objects: number; bytes: number; limitBytes: number; oldest?: string };
}
