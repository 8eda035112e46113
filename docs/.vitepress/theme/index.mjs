// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The default theme without its web fonts: the system's fonts are already there.
import Theme from 'vitepress/theme-without-fonts'
import './style.css'

export default Theme
