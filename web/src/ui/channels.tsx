// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import type { CommandResult } from '../lib/types';
import { Action, Card, Code, Empty } from './basics';
import { Confirm } from './dialog';

/** Channels are where the notifications of a Cleaner go, each with a button that sends a sample. */
export function Channels({ cleaner, names, missing }: { cleaner: string; names: string[]; missing?: string }) {
  const [sending, setSending] = useState<string>();
  const [result, setResult] = useState<CommandResult>();
  const test = async () => {
    setResult(undefined);
    setResult(await send<CommandResult>('POST', `cleaners/${segment(cleaner)}/notify-test${query({ notification: sending })}`));
  };
  return (
    <Card title="Channels" aside="where its notifications go">
      {names.length === 0 ? <Empty title="It sends no notifications.">Add notifications to its spec to hear of its runs.</Empty> : (
        <ul class="lines">
          {names.map((name) => (
            <li key={name}><span>{name}</span><span><Action label="Send a test" class="small" missing={missing} onClick={() => setSending(name)} /></span></li>
          ))}
        </ul>
      )}
      <div role="status">
        {result && <><p class={`note ${result.ok ? 'good' : 'bad'}`}>{result.ok ? 'The test was sent.' : 'The test did not arrive.'}</p><Code text={result.output} label="What the test wrote" /></>}
      </div>
      {sending && (
        <Confirm title={`Send a test to ${sending}?`} confirm="Send" onConfirm={test} onClose={() => setSending(undefined)}>
          <p>Everybody who reads that channel sees it.</p>
        </Confirm>
      )}
    </Card>
  );
}
