// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { segment } from '../lib/api';
import { seconds } from '../lib/time';
import type { RunSummary } from '../lib/types';
import { count } from '../lib/words';
import { Badge, Time } from './basics';
import { Table, type Column } from './table';

const columns: Column<RunSummary>[] = [
  { title: 'Run', cell: (run) => <a href={`/runs/${segment(run.name)}`}><Time at={run.time} /><span class="sr"> of {run.cleaner}</span></a> },
  { title: 'Cleaner', cell: (run) => <a href={`/cleaners/${segment(run.cleaner)}`}>{run.cleaner}</a> },
  { title: 'Result', cell: (run) => <Badge word={run.reason || run.phase || 'Running'} /> },
  { title: 'Action', cell: (run) => run.action },
  { title: 'Started by', cell: (run) => (run.trigger === 'Manual' ? 'a person' : 'its schedule') },
  { title: 'Matched', number: true, cell: (run) => count(run.matched) },
  { title: 'Acted', number: true, cell: (run) => count(run.acted) },
  { title: 'Skipped', number: true, cell: (run) => count(run.skipped) },
  { title: 'Failed', number: true, cell: (run) => count(run.failed) },
  { title: 'Took', number: true, cell: (run) => (run.durationSeconds === undefined ? '–' : seconds(run.durationSeconds)) },
];

export function RunTable({ runs, caption, withCleaner }: { runs: RunSummary[]; caption: string; withCleaner?: boolean }) {
  return <Table caption={caption} rows={runs} keyOf={(run) => run.name} columns={withCleaner ? columns : columns.filter((c) => c.title !== 'Cleaner')} />;
}
