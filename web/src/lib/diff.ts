// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

export interface Line { mark: ' ' | '+' | '-'; text: string }

const most = 1500;

/** diff compares two texts line by line. Texts of very many lines are shown one after the other. */
export function diff(before: string, after: string): Line[] {
  const a = before.split('\n');
  const b = after.split('\n');
  const removed = (text: string): Line => ({ mark: '-', text });
  const added = (text: string): Line => ({ mark: '+', text });
  if (a.length > most || b.length > most) return [...a.map(removed), ...b.map(added)];
  // longest[i][j] is how many lines a from i and b from j have in common, in order.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i]![j] = a[i] === b[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push({ mark: ' ', text: a[i]! }); i++; j++; }
    else if (j >= b.length || (i < a.length && longest[i + 1]![j]! >= longest[i]![j + 1]!)) lines.push(removed(a[i++]!));
    else lines.push(added(b[j++]!));
  }
  return lines;
}
