// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Failure } from './basics';

interface DialogProps { title: string; wide?: boolean; onClose: () => void; children: ComponentChildren }

/** Dialog is the browser's own modal dialog: it keeps the focus inside, closes with Escape and gives the focus back. */
export function Dialog({ title, wide, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
      // What opened it may be gone by now, with what it was about.
      setTimeout(() => { if (document.activeElement === document.body) document.querySelector<HTMLElement>('h1')?.focus(); });
    };
  }, []);
  return (
    <dialog ref={ref} class={wide ? 'wide' : undefined} aria-labelledby={id} onCancel={(e) => { e.preventDefault(); onClose(); }} onKeyDown={trap}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** trap keeps Tab inside the dialog; the browser's own trap lets it go to the address bar. */
function trap(event: KeyboardEvent) {
  if (event.key !== 'Tab') return;
  const dialog = event.currentTarget as HTMLElement;
  const stops = [...dialog.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, [tabindex="0"]')]
    .filter((stop) => !stop.hasAttribute('disabled'));
  const first = stops[0];
  const last = stops[stops.length - 1];
  if (!first || !last) return;
  if (event.shiftKey && document.activeElement === first) { event.preventDefault(); last.focus(); }
  if (!event.shiftKey && document.activeElement === last) { event.preventDefault(); first.focus(); }
}

interface ConfirmProps {
  title: string;
  /** confirm is the word on the button, for example "Delete 12 objects". */
  confirm: string;
  danger?: boolean;
  /** typed is the name that has to be typed before something is destroyed. */
  typed?: string;
  /** reason asks for a reason; "required" means that there is no going on without one. */
  reason?: 'optional' | 'required';
  children?: ComponentChildren;
  onConfirm: (reason: string) => Promise<unknown>;
  onClose: () => void;
}

export function Confirm({ title, confirm, danger, typed, reason, children, onConfirm, onClose }: ConfirmProps) {
  const [name, setName] = useState('');
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const id = useId();
  const missing = typed && name !== typed ? `Type ${typed} to go on.` : reason === 'required' && !why.trim() ? 'Give a reason to go on.' : '';
  const submit = async (event: Event) => {
    event.preventDefault();
    if (missing || busy) return;
    setBusy(true);
    setError(undefined);
    try { await onConfirm(why.trim()); onClose(); } catch (cause) { setError(cause as Error); setBusy(false); }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {reason && (
          <div class="field">
            <label for={`${id}r`}>Reason{reason === 'optional' && ' (optional)'}</label>
            <input id={`${id}r`} value={why} maxLength={512} autoComplete="off" onInput={(e) => setWhy(e.currentTarget.value)} />
          </div>
        )}
        {typed && (
          <div class="field">
            <label for={`${id}n`}>Type the Cleaner's name, <span class="mono">{typed}</span>, to confirm</label>
            <input id={`${id}n`} value={name} autoComplete="off" spellcheck={false} onInput={(e) => setName(e.currentTarget.value)} />
          </div>
        )}
        {error && <Failure error={error} />}
        <footer>
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class={danger ? 'danger' : 'primary'} aria-disabled={missing || busy ? 'true' : undefined}
            title={missing || undefined}>{busy ? 'Working …' : confirm}</button>
        </footer>
      </form>
    </Dialog>
  );
}
