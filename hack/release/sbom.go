// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"
)

const noAssertion = "NOASSERTION"

// program is a built program, with what it says about its modules.
type program struct {
	name string
	data []byte
	info *debug.BuildInfo
}

func readPrograms(paths []string) ([]program, error) {
	programs := make([]program, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("reading the modules of %s: %w", path, err)
		}
		programs[i] = program{filepath.Base(path), data, info}
	}
	return programs, nil
}

// writeSBOM lists the programs and the modules in them, as SPDX 2.3 in JSON.
func writeSBOM(title, version string, created time.Time, programs []program) ([]byte, error) {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: title,
		CreationInfo: &spdx.CreationInfo{
			Creators: []spdx.Creator{
				{CreatorType: "Organization", Creator: "The KubeCleaner Authors"},
				{CreatorType: "Tool", Creator: "kubecleaner-hack-release"},
			},
			Created: created.Format(time.RFC3339),
		},
	}
	modules := map[spdx.ElementID]*spdx.Package{}
	var digests strings.Builder
	for _, p := range programs {
		own := programPackage(p, version)
		digests.WriteString(own.PackageChecksums[0].Value)
		doc.Packages = append(doc.Packages, own)
		relate(doc, "DOCUMENT", "DESCRIBES", own.PackageSPDXIdentifier)
		for _, m := range modulesOf(p.info) {
			pkg, err := modulePackage(m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			modules[pkg.PackageSPDXIdentifier] = pkg
			relate(doc, own.PackageSPDXIdentifier, "DEPENDS_ON", pkg.PackageSPDXIdentifier)
		}
	}
	doc.DocumentNamespace = sourceURL + "/spdx/" + title + "-" + sum([]byte(digests.String()))
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		doc.Packages = append(doc.Packages, modules[id])
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		return nil, fmt.Errorf("the SBOM %s: %w", title, err)
	}
	var out bytes.Buffer
	err := spdxjson.Write(doc, &out, spdxjson.Indent(" "), spdxjson.EscapeHTML(false))
	return out.Bytes(), err
}

func programPackage(p program, version string) *spdx.Package {
	return &spdx.Package{
		PackageName:             p.name,
		PackageSPDXIdentifier:   identifier("Program-" + p.name),
		PackageVersion:          version,
		PackageFileName:         p.name,
		PackageDownloadLocation: "git+" + sourceURL,
		PackageLicenseConcluded: "Apache-2.0",
		PackageLicenseDeclared:  "Apache-2.0",
		PackageCopyrightText:    "Copyright The KubeCleaner Authors.",
		PrimaryPackagePurpose:   "APPLICATION",
		PackageChecksums:        []spdx.Checksum{{Algorithm: spdx.SHA256, Value: sum(p.data)}},
	}
}

// modulesOf are the modules in a program, and Go's own library.
func modulesOf(info *debug.BuildInfo) []debug.Module {
	modules := []debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, *m)
	}
	return modules
}

// modulePackage describes a module. Its checksum is the SHA-256 of go.sum, which is one over the list of the module's
// files.
func modulePackage(m debug.Module) (*spdx.Package, error) {
	pkg := &spdx.Package{
		PackageName:             m.Path,
		PackageSPDXIdentifier:   identifier("Module-" + m.Path + "-" + m.Version),
		PackageVersion:          m.Version,
		PackageDownloadLocation: noAssertion,
		PackageLicenseConcluded: noAssertion,
		PackageLicenseDeclared:  noAssertion,
		PackageCopyrightText:    noAssertion,
		PrimaryPackagePurpose:   "LIBRARY",
		PackageExternalReferences: []*spdx.PackageExternalReference{
			{
				Category: common.CategoryPackageManager,
				RefType:  common.TypePackageManagerPURL,
				Locator:  "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B"),
			},
		},
	}
	if m.Sum == "" {
		return pkg, nil
	}
	hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil {
		return nil, fmt.Errorf("the checksum %q of module %s: %w", m.Sum, m.Path, err)
	}
	pkg.PackageChecksums = []spdx.Checksum{{Algorithm: spdx.SHA256, Value: hex.EncodeToString(hash)}}
	return pkg, nil
}

func relate(doc *spdx.Document, a spdx.ElementID, kind string, b spdx.ElementID) {
	doc.Relationships = append(doc.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(a)), RefB: common.MakeDocElementID("", string(b)), Relationship: kind,
	})
}

var notInIdentifiers = regexp.MustCompile(`[^A-Za-z0-9.]+`)

func identifier(text string) spdx.ElementID {
	return spdx.ElementID(notInIdentifiers.ReplaceAllString(text, "-"))
}
