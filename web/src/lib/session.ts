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
