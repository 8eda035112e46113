// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ObjectRef } from '../lib/types';
import { objectName } from '../lib/words';

export interface Step { from: ObjectRef; via: string }

const boxWidth = 208;
const boxHeight = 46;
const gap = 150;
const rowHeight = 70;

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/**
 * UseGraph draws who uses an object: each row is one path that ends at the object. The first step of a path is the
 * direct user. The list below it says the same in words.
 */
export function UseGraph({ object, paths }: { object: ObjectRef; paths: Step[][] }) {
  const depth = Math.max(...paths.map((path) => path.length));
  const width = (depth + 1) * boxWidth + depth * gap + 4;
  const height = paths.length * rowHeight;
  const targetX = width - boxWidth - 2;
  const targetY = height / 2 - boxHeight / 2;
  return (
    <div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Graph of what uses it">
        <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img"
          aria-label={`${paths.length} ${paths.length === 1 ? 'path leads' : 'paths lead'} to ${objectName(object)}`}>
          <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="arrow" d="M0 0 8 4 0 8Z" /></marker></defs>
          {paths.map((path, row) => path.map((step, i) => {
            const x = targetX - (i + 1) * (boxWidth + gap);
            const y = row * rowHeight + (rowHeight - boxHeight) / 2;
            const toY = i === 0 ? targetY + boxHeight / 2 + (row - (paths.length - 1) / 2) * 6 : y + boxHeight / 2;
            const fromY = y + boxHeight / 2;
            const end = x + boxWidth + gap;
            return (
              <g key={`${row}.${i}`}>
                <path class="edge" marker-end="url(#arrow)" d={`M${x + boxWidth} ${fromY}C${x + boxWidth + 60} ${fromY} ${end - 60} ${toY} ${end - 2} ${toY}`} />
                <text x={x + boxWidth + gap / 2} y={(fromY + toY) / 2 - 7} text-anchor="middle">{cut(step.via, 23)}<title>{step.via}</title></text>
                <Box x={x} y={y} object={step.from} />
              </g>
            );
          }))}
          <g class="target"><Box x={targetX} y={targetY} object={object} /></g>
        </svg>
      </div>
      <ul class="lines small">
        {paths.map((path, row) => (
          <li key={row}><span>{[...path].reverse().map((step) => `${objectName(step.from)} names it in ${step.via}`).join(', which is used: ')}</span></li>
        ))}
      </ul>
    </div>
  );
}

function Box({ x, y, object }: { x: number; y: number; object: ObjectRef }) {
  return (
    <g>
      <title>{objectName(object)}</title>
      <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={8} />
      <text x={x + 12} y={y + 18}>{cut(object.kind + (object.namespace ? ` in ${object.namespace}` : ''), 31)}</text>
      <text class="name" x={x + 12} y={y + 35}>{cut(object.name, 26)}</text>
    </g>
  );
}
