// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ObjectRef, User } from '../lib/types';
import { objectName } from '../lib/words';

const boxWidth = 290;
const targetHeight = 48;
const userHeight = 66;
const gap = 110;
const rowHeight = userHeight + 12;
const most = 12;

/** cut shortens a text to what fits into a box, in its middle: the beginning of a name says whose it is, its end which. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}…${text.slice(text.length - end)}`;
}

/** tail cuts a path at its beginning: its end says more. */
function tail(text: string, length: number): string {
  return text.length > length ? `…${text.slice(text.length - length + 1)}` : text;
}

/** UseGraph draws who uses an object, and along which path. The list below says the same in words. */
export function UseGraph({ object, users }: { object: ObjectRef; users: User[] }) {
  const shown = users.slice(0, most);
  const width = boxWidth * 2 + gap + 4;
  const height = shown.length * rowHeight + 4;
  const targetX = boxWidth + gap + 2;
  const targetY = height / 2 - targetHeight / 2;
  return (
    <div>
      <div class="scroll" tabIndex={0} role="group" aria-label="Graph of what uses it">
        <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${users.length} use ${objectName(object)}`}>
          <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="arrow" d="M0 0 8 4 0 8Z" /></marker></defs>
          {shown.map((user, row) => <Edge key={row} user={user} y={row * rowHeight + 8} toX={targetX} toY={targetY + targetHeight / 2 + (row - (shown.length - 1) / 2) * 3} />)}
          <g class="target"><Box x={targetX} y={targetY} height={targetHeight} object={object} /></g>
        </svg>
      </div>
      <ul class="lines small">
        {users.map((user, row) => (
          <li key={row}>
            <span>{objectName(user)}{user.path && <> names it in <span class="mono">{user.path}</span></>}{user.optional && ', optional'}{user.idle && '; it uses nothing at present'}{user.reads && '; it may read it by its name'}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Edge({ user, y, toX, toY }: { user: User; y: number; toX: number; toY: number }) {
  const fromX = boxWidth + 2;
  const fromY = y + userHeight / 2;
  return (
    <g>
      <path class={user.idle ? 'edge idle' : 'edge'} marker-end="url(#arrow)" d={`M${fromX} ${fromY}C${fromX + gap / 2} ${fromY} ${toX - gap / 2} ${toY} ${toX - 2} ${toY}`} />
      <Box x={2} y={y} height={userHeight} object={user} path={user.path} />
    </g>
  );
}

/** Box has its texts in an svg of its own, which cuts off what is wider than the box. The path stands in it, where no line crosses it. */
function Box({ x, y, height, object, path }: { x: number; y: number; height: number; object: ObjectRef; path?: string }) {
  return (
    <g>
      <title>{objectName(object)}{path && ` names it in ${path}`}</title>
      <rect x={x} y={y} width={boxWidth} height={height} rx={8} />
      <svg x={x} y={y} width={boxWidth - 8} height={height}>
        <text x={12} y={19}>{cut(object.kind + (object.namespace ? ` in ${object.namespace}` : ''), 37)}</text>
        <text class="name" x={12} y={37}>{cut(object.name, 34)}</text>
        {path && <text x={12} y={55}>{tail(path, 36)}</text>}
      </svg>
    </g>
  );
}
