// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { query, segment, send } from '../lib/api';
import type { Channel, CommandResult } from '../lib/types';
import { Action, Card, Code, denied, Empty } from './basics';
import { Confirm } from './dialog';

/** Channels are where the notifications of a Cleaner go, each with a button that sends a sample. */
export function Channels({ channels }: { channels: Channel[] }) {
  return (
    <Card title="Channels" aside="where its notifications go">
      {channels.length === 0 ? <Empty title="It sends no notifications.">Add notifications to its spec to hear of its runs.</Empty>
        : <ChannelList channels={channels} />}
    </Card>
  );
}

/** ChannelList has the Cleaner of each channel too, if there may be several. */
export function ChannelList({ channels, withCleaner }: { channels: Channel[]; withCleaner?: boolean }) {
  const [sending, setSending] = useState<Channel>();
  const [result, setResult] = useState<CommandResult>();
  const test = async (of: Channel) => {
    setResult(undefined);
    setResult(await send<CommandResult>('POST', `cleaners/${segment(of.cleaner)}/notify-test${query({ notification: of.name })}`));
  };
  return (
    <>
      <ul class="lines">
        {channels.map((of) => (
          <li key={`${of.cleaner} ${of.name}`}>
            <span>{withCleaner && <><a href={`/cleaners/${segment(of.cleaner)}`}>{of.cleaner}</a> · </>}{of.name} <span class="muted">{of.type}</span></span>
            <span>{of.test ? <Action label="Send a test" class="small" missing={denied(of.test)} onClick={() => setSending(of)} />
              : <span class="muted">stays in the cluster</span>}</span>
          </li>
        ))}
      </ul>
      <div role="status">
        {result && <><p class={`note ${result.ok ? 'good' : 'bad'}`}>{result.ok ? 'The test was sent.' : 'The test did not arrive.'}</p><Code text={result.output} label="What the test wrote" /></>}
      </div>
      {sending && (
        <Confirm title={`Send a test to ${sending.name}?`} confirm="Send" onConfirm={() => test(sending)} onClose={() => setSending(undefined)}>
          <p>Everybody who reads that channel sees it.</p>
        </Confirm>
      )}
    </>
  );
}
