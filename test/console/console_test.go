// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console runs the commands that pages of the documentation show, on the objects that they show, and compares the output.
package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/test/testenv"
	"github.com/kubecleaner/kubecleaner/test/transcript"
)

var env *testenv.Env

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{ControllerManager: true}))
}

const (
	root = "../.."
	// age is how old the objects of the pages are.
	age      = 27 * time.Minute
	patience = 20 * time.Second
)

// TestShop runs what README.md and docs/how-to/scan.md show of the namespace shop.
func TestShop(t *testing.T) {
	apply(t, "given/shop.yaml")
	t.Setenv("KUBECONFIG", env.Kubeconfig)
	ran := 0
	for _, page := range []string{"README.md", "docs/how-to/scan.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range transcript.Parse(string(text)) {
			if step.Language != "console" {
				continue
			}
			for _, command := range step.Commands() {
				ran++
				if output, missing := show(t.Context(), command); missing != "" {
					t.Errorf("%s:%d: $ %s\n%s\nthe page shows: %s", page, step.Line, command.Text, output, missing)
				}
			}
		}
	}
	if ran < 3 {
		t.Errorf("only %d commands were found", ran)
	}
}

// show runs a command until it prints what the page shows: controllers need a moment to make what belongs to an object.
func show(ctx context.Context, command transcript.Command) (output, missing string) {
	for deadline := time.Now().Add(patience); ; <-time.After(time.Second) {
		var out bytes.Buffer
		cli.Execute(ctx, genericiooptions.IOStreams{In: strings.NewReader(command.Answers), Out: &out, ErrOut: &out}, terminal.Options{
			Now:    func() time.Time { return time.Now().Add(age) },
			Getenv: func(string) string { return "" },
		}, strings.Fields(strings.TrimPrefix(command.Text, "kubectl cleaner ")))
		if _, missing = transcript.Match(command.Output, out.String()); missing == "" || time.Now().After(deadline) {
			return out.String(), missing
		}
	}
}

// apply creates the objects of a file.
func apply(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	c, err := client.New(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var o unstructured.Unstructured
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = c.Create(t.Context(), &o)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}
