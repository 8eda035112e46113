package deps

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// allowed are the licences of what ships, with words that only their texts have. None of them asks for more than to be kept.
var allowed = map[string]*regexp.Regexp{
	"Apache-2.0":   words("Apache License", "Version 2.0"),
	"MIT":          words("Permission is hereby granted, free of charge, to any person obtaining a copy", "WITHOUT WARRANTY OF ANY KIND"),
	"BSD-2-Clause": words("Redistribution and use in source and binary forms", "Redistributions in binary form must reproduce"),
	"BSD-3-Clause": words("Redistribution and use in source and binary forms", "may be used to endorse or promote"),
	"ISC":          words("Permission to use, copy, modify, and(/or)? distribute this software for any purpose"),
}

// forbidden are words of licences that ask for more, wherever they stand beside an allowed one.
var forbidden = regexp.MustCompile(`GNU (AFFERO |LESSER )?GENERAL PUBLIC LICENSE|Mozilla Public License|Business Source License|Server Side Public License|Commons Clause|Elastic License`)

func words(parts ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)` + strings.ReplaceAll(strings.Join(parts, `.*`), " ", `\s+`))
}

// licence is the name of the licence that a text is, or nothing.
func licence(text string) string {
	if forbidden.MatchString(text) {
		return ""
	}
	for _, name := range []string{"Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "MIT", "ISC"} {
		if allowed[name].MatchString(text) {
			return name
		}
	}
	return ""
}

// module is what go list says of one.
type module struct {
	Path, Dir string
	Main      bool
	Replace   *module
}

// shipped are the modules of the programs that are given to people, on the systems for which they are built.
func shipped(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for system, programs := range map[string][]string{
		"linux/amd64": {"./cmd/manager", "./cmd/script-runner", "./cmd/kubectl-cleaner"}, "linux/arm64": {"./cmd/manager", "./cmd/script-runner", "./cmd/kubectl-cleaner"},
		"darwin/arm64": {"./cmd/kubectl-cleaner"}, "windows/amd64": {"./cmd/kubectl-cleaner"},
	} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=Module"}, programs...)...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("listing what ships for %s: %v", system, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(out))
		for {
			var one struct{ Module *module }
			if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			m := one.Module
			if m == nil || m.Main {
				continue
			}
			if m.Replace != nil {
				m = m.Replace
			}
			dirs[m.Path] = m.Dir
		}
	}
	if len(dirs) < 10 {
		t.Fatalf("only %d modules ship: that cannot be", len(dirs))
	}
	return dirs
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)

// Every module in a program that is given to people has one of the allowed licences, and all its licence files are of these.
func TestLicencesOfWhatShips(t *testing.T) {
	for path, dir := range shipped(t) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Errorf("%s is not in the module cache: %v", path, err)
			continue
		}
		found := 0
		for _, entry := range entries {
			if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found++
			if licence(string(text)) == "" {
				t.Errorf("%s: %s is none of the licences that may ship: read it, and use another module or add it to the list", path, entry.Name())
			}
		}
		if found == 0 {
			t.Errorf("%s has no licence: it may not ship", path)
		}
	}
}

// The check sees what it is for.
func TestLicence(t *testing.T) {
	for text, want := range map[string]string{
		"                                 Apache License\n                           Version 2.0, January 2004":                                                       "Apache-2.0",
		"MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a\ncopy of this software ... WITHOUT WARRANTY\nOF ANY KIND":             "MIT",
		"Redistribution and use in source and binary\nforms, with or without ... Redistributions in binary form must reproduce ... may be used to endorse or promote": "BSD-3-Clause",
		"Redistribution and use in source and binary forms ... Redistributions in binary form must reproduce":                                                         "BSD-2-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any purpose":                                                                            "ISC",
		"GNU GENERAL PUBLIC LICENSE Version 3": "", "Mozilla Public License, version 2.0": "", "Apache License Version 2.0 with the Commons Clause": "",
		"All rights reserved.": "", "": "",
	} {
		if got := licence(text); got != want {
			t.Errorf("%.40q is taken for %q, want %q", text, got, want)
		}
	}
}
