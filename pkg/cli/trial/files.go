// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/explain"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// directory is what stands in the files of a test.
type directory struct {
	dir                                       string
	cleaner                                   *manifest.Document
	matching, nonMatching, resources, updated []*tested
	hasMatching, hasNonMatching, hasUpdated   bool
	hasResources                              bool
	inputs                                    inputFiles
}

// readTest reads the files of a directory. Without files, the problems say why.
func readTest(dir string) (*directory, []manifest.Problem, error) {
	files := &directory{dir: dir}
	problems, err := files.readCleaner()
	if err != nil {
		return nil, nil, err
	}
	for _, file := range []struct {
		name    string
		objects *[]*tested
		there   *bool
	}{
		{matchingFile, &files.matching, &files.hasMatching},
		{nonMatchingFile, &files.nonMatching, &files.hasNonMatching},
		{resourcesFile, &files.resources, &files.hasResources},
		{updatedFile, &files.updated, &files.hasUpdated},
	} {
		objects, wrong, err := readObjects(filepath.Join(dir, file.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		*file.objects, *file.there = objects, true
		problems = append(problems, wrong...)
	}
	wrong, err := files.inputs.read(dir)
	if err != nil {
		return nil, nil, err
	}
	problems = append(problems, wrong...)
	if !files.hasMatching && !files.hasNonMatching && !files.hasUpdated {
		problems = append(problems, manifest.Problem{
			File: filepath.Join(
				dir,
				cleanerFile,
			),
			Line:    1,
			Code:    codes.TestNothing,
			Message: "there is nothing to try the Cleaner on",
			Hint:    "put " + terminal.OrList([]string{matchingFile, nonMatchingFile, updatedFile}) + " beside it",
		})
	}
	if len(problems) > 0 {
		files = nil
	}
	return files, problems, nil
}

// secrets are the objects of all files, to hide what stands in those that are Secrets.
func (f *directory) secrets() []object.Object {
	var all []object.Object
	for _, o := range slices.Concat(f.matching, f.nonMatching, f.resources, f.updated) {
		if o.IsSecret() {
			all = append(all, o.Object)
		}
	}
	return all
}

func (f *directory) readCleaner() ([]manifest.Problem, error) {
	path := filepath.Join(f.dir, cleanerFile)
	sources, err := manifest.ReadPath(path)
	if err != nil {
		return nil, err
	}
	docs, problems := sources[0].Documents()
	for _, d := range docs {
		is, almost := check.IsCleaner(d)
		switch {
		case almost != nil:
			problems = append(problems, *almost)
		case is && f.cleaner != nil:
			problems = append(
				problems,
				d.At(
					"",
					codes.FileNoCleaner,
					"there is more than one Cleaner in this file",
					"give each one a directory of its own",
				),
			)
		case is:
			f.cleaner = d
		}
	}
	if f.cleaner == nil && len(problems) == 0 {
		problems = append(
			problems,
			manifest.Problem{File: path, Line: 1, Code: codes.FileNoCleaner, Message: "there is no Cleaner in this file"},
		)
	}
	return problems, nil
}

// tested is an object of a file.
type tested struct {
	explain.Subject
	file string
	line int
}

// readObjects reads the objects of a file. That the file is not there is an error; what is wrong in it are problems.
func readObjects(path string) (objects []*tested, problems []manifest.Problem, err error) {
	sources, err := manifest.ReadPath(path)
	if err != nil {
		return nil, nil, err
	}
	docs, problems := sources[0].Documents()
	for _, d := range docs {
		o, err := newTestObject(d, len(objects))
		if err != nil {
			problems = append(
				problems,
				manifest.Problem{File: d.File, Line: d.Line, Code: codes.FieldValue, Message: err.Error()},
			)
			continue
		}
		objects = append(objects, o)
	}
	if len(docs) == 0 && len(problems) == 0 {
		problems = append(
			problems,
			manifest.Problem{
				File:    path,
				Line:    1,
				Code:    codes.FileEmpty,
				Message: "the file is empty",
				Hint:    "put objects into it, or remove it",
			},
		)
	}
	return objects, problems, nil
}

// newTestObject makes an object of a document. What it lacks of an identity is invented, where scripts do not see it.
func newTestObject(d *manifest.Document, index int) (*tested, error) {
	gv, err := schema.ParseGroupVersion(d.APIVersion())
	if err != nil {
		return nil, fmt.Errorf("apiVersion: %w", err)
	}
	var partial metav1.PartialObjectMetadata
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(d.Raw, &partial); errors.As(err, &wrongType) {
		message, hint := check.WrongTypeWords(wrongType)
		return nil, fmt.Errorf("%s: %s", wrongType.Field, strings.Join(terminal.Compact([]string{message, hint}), "; "))
	} else if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	switch {
	case gv.Version == "" || d.Kind() == "":
		return nil, errors.New("it is no Kubernetes object: apiVersion or kind is missing")
	case partial.Name == "":
		return nil, errors.New("metadata.name is missing: it identifies the object")
	}
	o := object.Object{
		Kind: object.Kind{GroupVersionKind: gv.WithKind(d.Kind()), Namespaced: partial.Namespace != ""}, Raw: d.Raw,
		Namespace: partial.Namespace, Name: partial.Name, UID: partial.UID, ResourceVersion: partial.ResourceVersion,
		Created: partial.CreationTimestamp.Time, Deleting: partial.DeletionTimestamp != nil,
	}
	if o.UID == "" {
		o.UID = types.UID(fmt.Sprintf("%s:%d:%d", d.File, d.Line, index))
	}
	if o.ResourceVersion == "" {
		o.ResourceVersion = "1"
	}
	return &tested{Subject: explain.Subject{Object: o, Metadata: partial.ObjectMeta}, file: d.File, line: d.Line}, nil
}

// identity is by what two files name the same object.
func (o *tested) identity() string { return o.Kind.APIVersion() + " " + o.String() }
