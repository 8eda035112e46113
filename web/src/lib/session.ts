// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Config, WhoAmI } from './types';

/** Session is who looks, and how the server runs. */
export interface Session extends Config, WhoAmI {}

export const SessionContext = createContext<Session>({
  user: '', groups: null, cluster: '', mode: 'Token', loggedIn: false, version: '', readOnly: false,
});
export const useSession = () => useContext(SessionContext);

const all = '*';

/** useNamespace is the namespace in the address's query, or else that where the server begins. Empty is all: the address says so, as without it the server's would come back. */
export function useNamespace(inAddress: string | undefined): [namespace: string, inAddress: (chosen: string) => string] {
  const { namespace: first = '' } = useSession();
  return [inAddress === all ? '' : inAddress ?? first, (chosen) => chosen || (first && all)];
}
