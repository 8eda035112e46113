// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useId, useState } from 'preact/hooks';
import { useDebounced } from '../lib/hooks';
import { split } from './basics';

interface SearchProps { label: string; value?: string; placeholder?: string; onChange: (value: string) => void }

export function Search({ label, value = '', placeholder, onChange }: SearchProps) {
  const id = useId();
  const [text, setText] = useState(value);
  const later = useDebounced(onChange);
  useEffect(() => setText(value), [value]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="search" value={text} placeholder={placeholder} autoComplete="off" spellcheck={false}
        onInput={(e) => { setText(e.currentTarget.value); later(e.currentTarget.value); }} />
    </div>
  );
}

interface SelectProps { label: string; value?: string; options: string[]; all?: string; asIs?: boolean; onChange: (value: string) => void }

export function Select({ label, value = '', options, all = 'All', asIs, onChange }: SelectProps) {
  const id = useId();
  const known = !value || options.includes(value) ? options : [value, ...options];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {all && <option value="">{all}</option>}
        {known.map((option) => <option key={option} value={option}>{asIs ? option : split(option)}</option>)}
      </select>
    </div>
  );
}
