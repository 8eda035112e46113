// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// maxFileName leaves room for the time and the endings in a file's name of at most 255 bytes.
	maxFileName = 200
	// maxSameName is how many files of one object and run there may be: it is copied again whenever it changed meanwhile.
	maxSameName = 100
	// maxCopyFile bounds what is read of a file: the API server stores no object of this size.
	maxCopyFile = 16 << 20
)

// files writes one file for each copy of a run, below a directory of the operator's: nothing leaves it, also not
// through symbolic links, and a file that is there already is never touched.
type files struct {
	// root is the directory that nothing leaves, and below the path in it under which the files are.
	root, below string
	seconds     int64

	written []string
	// unsynced are the directories whose entries are not durable yet.
	unsynced map[string]bool
}

func newFiles(root, below string, run *v1alpha1.CleanerRun) *files {
	return &files{
		root:     root,
		below:    path.Join(below, segment(run.Spec.Cleaner)),
		seconds:  run.Spec.NominalTime.Unix(),
		unsynced: map[string]bool{},
	}
}

// write keeps the contents of a file for the object, durably once sync has returned, and returns the file's path below
// the root.
func (f *files) write(o object.Object, data []byte) (name string, err error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	dir := path.Join(f.below, segment(o.Namespace), segment(o.Kind.Kind))
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if name, err = reserve(root, dir, f.fileName(o)); err != nil {
		return "", err
	}
	f.written = append(f.written, name)
	for ; dir != "."; dir = path.Dir(dir) {
		f.unsynced[dir] = true
	}
	f.unsynced["."] = true
	return name, replace(root, name, data)
}

// fileName is the name of an object's file, without its ending. No part of it has an underscore of its own.
func (f *files) fileName(o object.Object) string {
	name := segment(o.Name)
	if o.Kind.Group != "" {
		name += "_" + segment(o.Kind.Group)
	}
	return fmt.Sprintf("%s_%d", v1alpha1.ShortName(name, maxFileName), f.seconds)
}

// segment is a name as it may stand in a path: everything but letters, digits, '-' and '.' is escaped, and so is a
// leading dot.
func segment(name string) string {
	var out strings.Builder
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.' && i > 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// reserve creates an empty file that was not there before.
func reserve(root *os.Root, dir, base string) (string, error) {
	for n := 1; n <= maxSameName; n++ {
		name := path.Join(dir, base+".yaml")
		if n > 1 {
			name = path.Join(dir, fmt.Sprintf("%s-%d.yaml", base, n))
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, file.Close()
	}
	return "", fmt.Errorf("there are %d files %s already", maxSameName, path.Join(dir, base+"-*.yaml"))
}

// replace writes a file as a whole or not at all. The file is this process's own, and so is the temporary one.
func replace(root *os.Root, name string, data []byte) error {
	temporary := name + ".tmp"
	file, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		err = errors.Join(err, root.Remove(temporary))
	}
	return err
}

// sync makes the names of the files durable.
func (f *files) sync() (err error) {
	if len(f.unsynced) == 0 {
		return nil
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name := range f.unsynced {
		dir, err := root.Open(name)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		if err != nil {
			return err
		}
		delete(f.unsynced, name)
	}
	return nil
}

// removeFiles removes files by their paths below the root. One that is not there is no error.
func removeFiles(rootPath string, names []string) (err error) {
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var errs []error
	for _, name := range names {
		if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// readFile returns the object in the file of a copy, as the API server sent it but for the order of its fields.
func readFile(rootPath string, c Copy) (_ json.RawMessage, err error) {
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	file, err := root.Open(c.File)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxCopyFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if sum := hashOf(data); sum != c.SHA256 {
		return nil, fmt.Errorf("%s is not what the run wrote: its SHA-256 is %s, and the run says %s", c.File, sum, c.SHA256)
	}
	value, err := decodeFile(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.File, err)
	}
	if metadata, ok := value["metadata"].(map[string]any); ok {
		metadata["resourceVersion"] = c.ResourceVersion
	}
	return encodeJSON(value, "")
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// storePath is where below the operator's directory the files of storeResourcePath are.
func storePath(root, wanted string) (string, error) {
	switch {
	case root == "":
		return "", errors.New(
			"storeResourcePath: the operator has no directory for copies: mount a volume and start it with --copies-path, or remove storeResourcePath",
		)
	case !filepath.IsAbs(wanted):
		return "", fmt.Errorf("storeResourcePath is %q: it must be an absolute path, such as %s", wanted, root)
	case slices.Contains(strings.Split(wanted, "/"), ".."):
		return "", fmt.Errorf("storeResourcePath is %q: a path with .. in it is refused", wanted)
	}
	below, err := filepath.Rel(root, wanted)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return "", fmt.Errorf(
			"storeResourcePath is %q: it must be %s, which is the operator's --copies-path, or a directory below it",
			wanted,
			root,
		)
	}
	return below, nil
}
