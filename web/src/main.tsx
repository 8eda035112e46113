// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './app';
import { takeKey } from './lib/key';
import { applyTheme } from './lib/theme';
import './style.css';

applyTheme();
await takeKey();
const root = document.getElementById('app')!;
root.textContent = '';
render(<App />, root);
