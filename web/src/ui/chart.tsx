// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { bytes, count } from '../lib/words';

export interface Bar { label: string; title: string; found: number; acted: number; freed?: number }

const width = 720;
const height = 190;
const left = 66; // room for 1023 MiB
const bottom = 24;

/** nice rounds a maximum up to what reads well on an axis. */
export function nice(max: number): number {
  if (max <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(max));
  return [1, 2, 4, 5, 10].map((step) => step * power).find((step) => step >= max)!;
}

/** Bars shows found and acted side by side, freed bytes where there are any, and the same numbers as a table for those who read them. */
export function Bars({ bars, what }: { bars: Bar[]; what: string }) {
  const top = nice(Math.max(0, ...bars.map((bar) => Math.max(bar.found, bar.acted))));
  const slot = (width - left) / Math.max(1, bars.length);
  const scale = (value: number) => (value / top) * (height - bottom - 10);
  const thick = Math.min(18, slot * 0.36);
  const found = bars.reduce((sum, bar) => sum + bar.found, 0);
  const acted = bars.reduce((sum, bar) => sum + bar.acted, 0);
  const freed = bars.reduce((sum, bar) => sum + (bar.freed ?? 0), 0);
  const every = Math.ceil(bars.length / 8);
  return (
    <div>
      <div class="legend">
        <span><i class="found" />Found: {count(found)}</span>
        <span><i class="acted" />Acted on: {count(acted)}</span>
        {freed > 0 && <span><i class="freed" />Freed: {bytes(freed)}</span>}
      </div>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${what}: ${count(found)} found, ${count(acted)} acted on`}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="gridline" x1={left} x2={width} y1={height - bottom - scale(top * part)} y2={height - bottom - scale(top * part)} />
            <text x={left - 6} y={height - bottom - scale(top * part) + 4} text-anchor="end">{count(top * part)}</text>
          </g>
        ))}
        {bars.map((bar, i) => {
          const middle = left + slot * (i + 0.5);
          return (
            <g key={i}>
              <title>{bar.title}</title>
              <rect class="found" x={middle - thick} width={thick} y={height - bottom - scale(bar.found)} height={scale(bar.found)} rx={2} />
              <rect class="acted" x={middle + 1} width={thick} y={height - bottom - scale(bar.acted)} height={scale(bar.acted)} rx={2} />
              {i % every === 0 && <text x={middle} y={height - 6} text-anchor="middle">{bar.label}</text>}
            </g>
          );
        })}
      </svg>
      {freed > 0 && <Freed bars={bars} what={what} slot={slot} thick={thick} />}
      <details>
        <summary>Show the numbers</summary>
        <div class="scroll" tabIndex={0} role="group" aria-label={`${what}, numbers`}>
          <table>
            <thead><tr><th scope="col">When</th><th scope="col" class="num">Found</th><th scope="col" class="num">Acted on</th>
              {freed > 0 && <th scope="col" class="num">Freed</th>}</tr></thead>
            <tbody>
              {bars.filter((bar) => bar.found || bar.acted || bar.freed).map((bar, i) => (
                <tr key={i}><td>{bar.title}</td><td class="num">{count(bar.found)}</td><td class="num">{count(bar.acted)}</td>
                  {freed > 0 && <td class="num">{bytes(bar.freed ?? 0)}</td>}</tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

function Freed({ bars, what, slot, thick }: { bars: Bar[]; what: string; slot: number; thick: number }) {
  const most = Math.max(...bars.map((bar) => bar.freed ?? 0));
  const tall = 34;
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${tall + 6}`} role="img" aria-label={`${what}: at most ${bytes(most)} freed`}>
      <line class="gridline" x1={left} x2={width} y1={tall} y2={tall} />
      <text x={left - 6} y={12} text-anchor="end">{bytes(most)}</text>
      {bars.map((bar, i) => {
        const high = ((bar.freed ?? 0) / most) * (tall - 4);
        return <rect key={i} class="freed" x={left + slot * (i + 0.5) - thick / 2} width={thick} y={tall - high} height={high} rx={2}><title>{bar.title}</title></rect>;
      })}
    </svg>
  );
}
