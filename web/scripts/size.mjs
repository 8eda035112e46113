// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Fails when all files of dist together are larger than the budget after gzip.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BUDGET = 60 * 1024;

function files(dir) {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

let total = 0;
for (const path of files('dist')) {
  const size = gzipSync(readFileSync(path), { level: 9 }).length;
  total += size;
  console.log(`${String(size).padStart(7)}  ${path}`);
}
console.log(`${String(total).padStart(7)}  all, of at most ${BUDGET} bytes`);
if (total > BUDGET) {
  console.error('web: the page is larger than its budget of 60 KiB gzip');
  process.exit(1);
}

const licences = readFileSync('dist/licenses.txt', 'utf8');
const missing = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
  .filter((name) => !licences.includes(readFileSync(`node_modules/${name}/LICENSE`, 'utf8')));
if (missing.length > 0) {
  console.error(`web: public/licenses.txt has not the licence of ${missing}, which the page includes`);
  process.exit(1);
}
