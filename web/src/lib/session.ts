// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from './types';

export const SessionContext = createContext<Session>({ user: '' });
export const useSession = () => useContext(SessionContext);
