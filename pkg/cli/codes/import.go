// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package codes

// The codes of import.
const (
	ImportNothing  Code = "E-IMP-001"
	ImportTwice    Code = "E-IMP-002"
	ImportLost     Code = "W-IMP-001"
	ImportMistaken Code = "W-IMP-002"
	ImportDiffers  Code = "N-IMP-001"
)

func importTable() [][2]string {
	return [][2]string{
		{string(ImportNothing), "there is nothing to import in what was given"},
		{string(ImportTwice), "the input has more than one of something that import reads only once, such as a ConfigMap with settings"},
		{string(ImportLost), "something was not carried over by import"},
		{string(ImportMistaken), "the imported configuration has a known mistake, so it does not do what it is meant to do"},
		{string(ImportDiffers), "KubeCleaner does something differently from the imported tool, on purpose"},
	}
}
