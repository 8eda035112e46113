// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { segment } from '../lib/api';
import { seconds } from '../lib/time';
import type { RunRow } from '../lib/types';
import { count } from '../lib/words';
import { Badge, Time } from './basics';
import { Table, type Column } from './table';

/** resultOf is the word for a run: why it ended so, or how far it is. */
export function resultOf(run: RunRow): string {
  return run.reason || run.phase;
}

const columns: Column<RunRow>[] = [
  { title: 'Run', cell: (run) => <a href={`/runs/${segment(run.name)}`}><Time at={run.time} /><span class="sr"> of {run.cleaner}</span></a> },
  { title: 'Cleaner', class: 'name', cell: (run) => <a href={`/cleaners/${segment(run.cleaner)}`}>{run.cleaner}</a> },
  { title: 'Result', cell: (run) => <Badge word={resultOf(run)} /> },
  { title: 'Action', cell: (run) => <>{run.action}{run.dryRun && <div class="small muted">dry run</div>}</> },
  { title: 'Started by', cell: (run) => (run.trigger === 'Manual' ? 'person' : run.trigger === 'Approval' ? 'approval' : 'schedule') },
  { title: 'Matched', number: true, cell: (run) => count(run.matched) },
  { title: 'Acted', number: true, cell: (run) => count(run.acted) },
  { title: 'Skipped', number: true, cell: (run) => count(run.skipped) },
  { title: 'Failed', number: true, cell: (run) => count(run.failed) },
  { title: 'Took', number: true, cell: (run) => (run.durationSeconds ? seconds(run.durationSeconds) : '–') },
];

export function RunTable({ runs, caption, withCleaner }: { runs: RunRow[]; caption: string; withCleaner?: boolean }) {
  return <Table caption={caption} rows={runs} keyOf={(run) => run.name} columns={columns.filter((c) => c.title !== (withCleaner ? 'Started by' : 'Cleaner'))} />;
}
