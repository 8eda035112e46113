// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

export interface Wish {
  name: string; group: string; version: string; kind: string; namespace: string; type: string;
  forDays: number; schedule: string; action: string; maxCount: number; approval: boolean;
}

/** cleanerOf is the manifest of what the person wants. */
export function cleanerOf(wish: Wish) {
  return {
    apiVersion: 'apps.projectsveltos.io/v1alpha1',
    kind: 'Cleaner',
    metadata: { name: wish.name },
    spec: {
      schedule: wish.schedule,
      action: wish.action,
      ...(wish.action !== 'Scan' && { blastRadiusLimit: { maxCount: wish.maxCount }, ...(wish.approval && { approval: { mode: 'Required' } }) }),
      resourcePolicySet: {
        resourceSelectors: [{
          group: wish.group, version: wish.version, kind: wish.kind,
          ...(wish.namespace && { namespace: wish.namespace }),
          finding: { type: wish.type, ...(wish.forDays > 0 && { forSeconds: wish.forDays * 86400 }) },
        }],
      },
    },
  };
}

/** splitVersion: apps/v1 is group apps and version v1; v1 has no group. */
export function splitVersion(apiVersion: string): { group: string; version: string } {
  const at = apiVersion.indexOf('/');
  return at < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, at), version: apiVersion.slice(at + 1) };
}

/** nameOf proposes a name: unused-configmaps-shop. */
export function nameOf(type: string, kind: string, namespace: string): string {
  const plural = kind.endsWith('s') ? `${kind}es` : kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return [type, plural, namespace].filter(Boolean).join('-').toLowerCase().replace(/[^a-z0-9.-]/g, '-').slice(0, 63).replace(/[-.]+$/, '');
}

/** yaml writes plain data as YAML. Every text is quoted that could be read as something else. */
export function yaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) return value.map((each) => `${indent}- ${yaml(each, `${indent}  `).trimStart()}`).join('');
  return Object.entries(value as Record<string, unknown>).map(([key, each]) => {
    if (typeof each !== 'object' || each === null) return `${indent}${key}: ${scalar(each)}\n`;
    return `${indent}${key}:\n${yaml(each, Array.isArray(each) ? indent : `${indent}  `)}`;
  }).join('');
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const reserved = /^(true|false|yes|no|on|off|null|y|n)$/i;
  return /^[A-Za-z][A-Za-z0-9._/-]*$/.test(value) && !reserved.test(value) ? value : JSON.stringify(value);
}
