// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// fullDirectory in the environment makes this process one that may write no byte into files, and tries to write a copy there.
const fullDirectory = "TEST_FULL_DIRECTORY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDirectory); dir != "" {
		os.Exit(writeWithoutRoom(dir))
	}
	os.Exit(m.Run())
}

func runAt(seconds int64) *v1alpha1.CleanerRun {
	return &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Cleaner: "nightly", NominalTime: metav1.NewTime(time.Unix(seconds, 0))}}
}

func kindOf(group, kind string) object.Kind {
	return object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}}
}

func sample(namespace, name string, kind object.Kind) object.Object {
	return object.Object{Kind: kind, Namespace: namespace, Name: name, Raw: []byte(fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":"7"},"data":{"n":3}}`, name))}
}

// write writes an object into a file and returns its path.
func (f *files) mustWrite(t *testing.T, o object.Object) string {
	t.Helper()
	data, err := encodeFile(o)
	if err != nil {
		t.Fatal(err)
	}
	name, err := f.write(o, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.sync(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPathsOfFiles(t *testing.T) {
	long := strings.Repeat("x", 253)
	for name, c := range map[string]struct {
		o    object.Object
		want string
	}{
		"core":           {sample("shop", "a", kindOf("", "ConfigMap")), "nightly/shop/ConfigMap/a_1700000000.yaml"},
		"group":          {sample("shop", "a", kindOf("apps", "Deployment")), "nightly/shop/Deployment/a_apps_1700000000.yaml"},
		"cluster-scoped": {sample("", "a", kindOf("rbac.authorization.k8s.io", "ClusterRole")), "nightly/ClusterRole/a_rbac.authorization.k8s.io_1700000000.yaml"},
		"colon":          {sample("", "system:a", kindOf("", "Node")), "nightly/Node/system%3Aa_1700000000.yaml"},
		"underscore":     {sample("", "a_apps", kindOf("", "Node")), "nightly/Node/a%5Fapps_1700000000.yaml"},
		"dots":           {sample("..", "../../etc/passwd", kindOf("", "../..")), "nightly/%2E./%2E.%2F../%2E.%2F..%2Fetc%2Fpasswd_1700000000.yaml"},
		"separators":     {sample("a/b", `c\d`, kindOf("", "Kind")), "nightly/a%2Fb/Kind/c%5Cd_1700000000.yaml"},
		"percent":        {sample("", "%2E", kindOf("", "Node")), "nightly/Node/%252E_1700000000.yaml"},
		"long":           {sample("", long, kindOf("", "Node")), "nightly/Node/" + v1alpha1.ShortName(long, 200) + "_1700000000.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			f := newFiles(root, ".", runAt(1_700_000_000))
			if got := f.mustWrite(t, c.o); got != c.want {
				t.Fatalf("the file is %s, want %s", got, c.want)
			}
			if got := listed(t, root); !reflect.DeepEqual(got, []string{c.want}) {
				t.Fatalf("below the directory are %q", got)
			}
		})
	}
}

// listed are the files below a directory. Each must be for the operator's user only.
func listed(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || path == root {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %o, want %o", path, info.Mode().Perm(), want)
		}
		if !entry.IsDir() {
			name, err := filepath.Rel(root, path)
			found = append(found, name)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A file that is there, of k8s-cleaner or of an operator that was cut off, is never touched: the copy gets another name.
func TestFilesAreNeverTouchedTwice(t *testing.T) {
	root := t.TempDir()
	o := sample("shop", "a", kindOf("", "ConfigMap"))
	first := newFiles(root, ".", runAt(1)).mustWrite(t, o)
	old := filepath.Join(root, "nightly/shop/ConfigMap/a.yaml")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, first), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := newFiles(root, ".", runAt(1))
	if got, want := second.mustWrite(t, o), "nightly/shop/ConfigMap/a_1-2.yaml"; got != want {
		t.Fatalf("the second file is %s, want %s", got, want)
	}
	if err := removeFiles(root, second.written); err != nil {
		t.Fatal(err)
	}
	want := []string{"nightly/shop/ConfigMap/a.yaml", "nightly/shop/ConfigMap/a_1.yaml"}
	if got := listed(t, root); !reflect.DeepEqual(got, want) {
		t.Fatalf("left are %q, want %q", got, want)
	}
	for name, want := range map[string]string{old: "old", filepath.Join(root, first): "kept"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Fatalf("%s holds %q %v", name, got, err)
		}
	}
}

func TestSymbolicLinksDoNotLeadOut(t *testing.T) {
	o := sample("shop", "a", kindOf("", "ConfigMap"))
	for name, link := range map[string]string{"cleaner": "nightly", "namespace": "nightly/shop", "kind": "nightly/shop/ConfigMap", "file": "nightly/shop/ConfigMap/a_1.yaml"} {
		t.Run(name, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			target := outside
			if name == "file" {
				target = filepath.Join(outside, "file")
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
			_, err := newFiles(root, ".", runAt(1)).write(o, []byte("x"))
			if name != "file" && (err == nil || !strings.Contains(err.Error(), "escapes")) { // a link in the file's place is just a file that is there
				t.Fatalf("it was written: %v", err)
			}
			if got := listed(t, outside); len(got) > 0 {
				t.Fatalf("outside are %q", got)
			}
		})
	}
}

func TestFileThatIsNotWhatTheRunWroteIsRefused(t *testing.T) {
	root := t.TempDir()
	o := sample("shop", "a", kindOf("", "ConfigMap"))
	data, err := encodeFile(o)
	if err != nil {
		t.Fatal(err)
	}
	c := Copy{File: newFiles(root, ".", runAt(1)).mustWrite(t, o), SHA256: hashOf(data), ResourceVersion: "7"}
	got, err := readFile(root, c)
	if want := `{"apiVersion":"v1","data":{"n":3},"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7"}}`; err != nil || string(got) != want {
		t.Fatalf("read %s %v, want %s", got, err, want)
	}
	for i := range data { // one bit of each byte
		flipped := append([]byte(nil), data...)
		flipped[i] ^= 1 << (i % 8)
		if err := os.WriteFile(filepath.Join(root, c.File), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readFile(root, c); err == nil || got != nil || !strings.Contains(err.Error(), c.File+" is not what the run wrote: its SHA-256 is ") {
			t.Fatalf("byte %d: read %s %v", i, got, err)
		}
	}
	for _, file := range []string{"../outside", "/etc/passwd", "nightly/none"} {
		if _, err := readFile(root, Copy{File: file}); err == nil {
			t.Fatalf("%s was read", file)
		}
	}
}

func TestStorePath(t *testing.T) {
	for wanted, want := range map[string]string{
		"/copies": ".", "/copies/": ".", "/copies/a/b": "a/b", "/copies//a/.": "a",
		"copies/a":        `storeResourcePath is "copies/a": it must be an absolute path, such as /copies`,
		"/copies/../etc":  `storeResourcePath is "/copies/../etc": a path with .. in it is refused`,
		"/copies/a/../b":  `storeResourcePath is "/copies/a/../b": a path with .. in it is refused`,
		"/copies-other/a": `storeResourcePath is "/copies-other/a": it must be /copies, which is the operator's --copies-path, or a directory below it`,
		"/":               `storeResourcePath is "/": it must be /copies, which is the operator's --copies-path, or a directory below it`,
	} {
		got, err := storePath("/copies", wanted)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", wanted, got, want)
		}
	}
	if _, err := storePath("", "/copies"); err == nil || !strings.Contains(err.Error(), "mount a volume and start it with --copies-path, or remove storeResourcePath") {
		t.Errorf("without a directory: %v", err)
	}
}

func TestDirectoryThatCannotBeWritten(t *testing.T) {
	o := sample("shop", "a", kindOf("", "ConfigMap"))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "no such file or directory", file: "not a directory"} {
		if _, err := newFiles(root, ".", runAt(1)).write(o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", root, err, want)
		}
	}
}

// A disk without room: nothing of the copy is left that could be taken for one.
func TestDiskWithoutRoom(t *testing.T) {
	root := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), fullDirectory+"="+root)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "file too large") {
		t.Fatalf("%v: %s", err, out)
	}
	if got := listed(t, root); len(got) != 0 {
		t.Fatalf("left are %q", got)
	}
}

func writeWithoutRoom(dir string) int {
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}); err != nil {
		fmt.Println(err)
		return 1
	}
	f := newFiles(dir, ".", runAt(1))
	_, err := f.write(sample("shop", "a", kindOf("", "ConfigMap")), []byte("some bytes"))
	fmt.Println(err)
	if err = removeFiles(dir, f.written); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func TestCopyOfAFileHasNoBodyInTheChain(t *testing.T) {
	text, err := json.Marshal(Copy{Kind: "ConfigMap", Name: "a", File: "f", SHA256: "h", Problem: os.ErrNotExist})
	if want := `{"apiVersion":"","kind":"ConfigMap","resource":"","name":"a","uid":"","resourceVersion":"","file":"f","sha256":"h"}`; err != nil || string(text) != want {
		t.Fatalf("%s %v, want %s", text, err, want)
	}
}
