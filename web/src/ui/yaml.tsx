// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { segment, send } from '../lib/api';
import type { CleanerSaved } from '../lib/types';
import { Action, Card, Code, Failure } from './basics';
import { Confirm } from './dialog';
import { useSay } from './toast';

interface YamlProps { name: string; yaml: string; missing?: string; saved: () => void }

/** YamlCard shows a Cleaner's manifest; who may, edits it. The API server checks it before it is saved. */
export function YamlCard({ name, yaml, missing, saved }: YamlProps) {
  const [text, setText] = useState<string>();
  const [checked, setChecked] = useState('');
  const [error, setError] = useState<Error>();
  const [saving, setSaving] = useState(false);
  const say = useSay();
  const put = (dryRun: boolean) => send<CleanerSaved>('PUT', `cleaners/${segment(name)}${dryRun ? '?dryRun=true' : ''}`, { yaml: text });
  const check = async () => {
    setError(undefined);
    setChecked('');
    try {
      const { warnings } = await put(true);
      setChecked(warnings?.length ? `It can be saved, with warnings: ${warnings.join(' ')}` : 'It can be saved.');
    } catch (cause) { setError(cause as Error); }
  };
  if (text === undefined) {
    return (
      <Card title="YAML">
        <div class="stack">
          <Code text={yaml} label="YAML" />
          <div><Action label="Edit" missing={missing} onClick={() => setText(yaml)} /></div>
        </div>
      </Card>
    );
  }
  return (
    <Card title="YAML" aside="edited, not saved">
      <div class="stack">
        <textarea class="mono" rows={24} aria-label="YAML" spellcheck={false} value={text} onInput={(e) => { setText(e.currentTarget.value); setChecked(''); }} />
        <p role="status">{checked}</p>
        {error && <Failure error={error} />}
        <div class="row">
          <button type="button" onClick={check}>Check</button>
          <button type="button" class="primary" onClick={() => setSaving(true)}>Save …</button>
          <button type="button" onClick={() => { setText(undefined); setError(undefined); }}>Discard</button>
        </div>
      </div>
      {saving && (
        <Confirm title={`Save ${name}?`} confirm="Save" danger typed={name} onClose={() => setSaving(false)}
          onConfirm={async () => { await put(false); say(`${name} was saved.`); setText(undefined); saved(); }}>
          <p>Its next run does what the new manifest says.</p>
        </Confirm>
      )}
    </Card>
  );
}
