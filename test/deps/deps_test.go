// Package deps checks that docs/explanation/dependencies.md says why each module is there.
package deps

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

type row struct{ version, reason string }

func TestEveryDirectDependencyHasARow(t *testing.T) {
	required, documented := directRequirements(t), table(t)
	for module, version := range required {
		switch got, ok := documented[module]; {
		case !ok:
			t.Errorf("docs/explanation/dependencies.md lacks | %s | %s | why it is needed |", module, version)
		case got.version != version:
			t.Errorf("docs/explanation/dependencies.md says %s %s, go.mod says %s", module, got.version, version)
		case got.reason == "":
			t.Errorf("docs/explanation/dependencies.md gives no reason for %s", module)
		}
	}
	for module := range documented {
		if _, ok := required[module]; !ok {
			t.Errorf("docs/explanation/dependencies.md still lists %s, which go.mod does not require directly", module)
		}
	}
}

// assertions are the modules that only tests use and go.mod may name: libraries that need nothing but the standard library.
var assertions = []string{"github.com/google/go-cmp", "go.uber.org/goleak", "pgregory.net/rapid"}

// What ships is not updated, scanned or downloaded because of a server that only tests start.
func TestWhatOnlyTestsUseIsInAModuleOfItsOwn(t *testing.T) {
	ships, required := shipped(t), directRequirements(t)
	for module := range required {
		if ships[module] == "" && !slices.Contains(assertions, module) {
			t.Errorf("go.mod names %s, which does not ship: put what needs it into a module of its own, such as test/servers", module)
		}
	}
	for _, module := range assertions {
		if required[module] == "" || ships[module] != "" {
			t.Errorf("%s ships, or go.mod does not name it: it is none of these exceptions", module)
		}
	}
}

// directRequirements returns the version of each module that go.mod requires without "// indirect".
func directRequirements(t *testing.T) map[string]string {
	t.Helper()
	if _, err := os.Stat(root + "/go.mod"); err != nil { // tells go test's cache that the result depends on it
		t.Fatal(err)
	}
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading go.mod: %v", err)
	}
	var mod struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatalf("reading go.mod: %v", err)
	}
	direct := map[string]string{}
	for _, r := range mod.Require {
		if !r.Indirect {
			direct[r.Path] = r.Version
		}
	}
	if len(direct) == 0 {
		t.Fatal("go.mod has no direct requirement")
	}
	return direct
}

// table returns the rows of the only table in docs/explanation/dependencies.md.
func table(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/explanation/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "Module" {
			continue
		}
		module := strings.TrimSpace(cells[1])
		if _, twice := rows[module]; twice {
			t.Errorf("docs/explanation/dependencies.md lists %s twice", module)
		}
		rows[module] = row{version: strings.TrimSpace(cells[2]), reason: strings.TrimSpace(cells[3])}
	}
	return rows
}
