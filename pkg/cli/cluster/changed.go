// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Changed is -o of a command that changes objects: it prints them as they are now, as kubectl patch does.
type Changed struct {
	output  string
	printed bool
}

// BindOutput adds the flag; what says which objects are printed.
func (c *Changed) BindOutput(flags *pflag.FlagSet, what string) {
	flags.VarP(terminal.NewChoice(&c.output, "text", "name", "json", "yaml"), "output", "o",
		"what to print: text, or "+what+" as name, json or yaml; the text then goes to the standard error")
}

// IsAsked reports whether objects are printed at all.
func (c *Changed) IsAsked() bool { return c.output != "text" }

// Print prints an object: the body of an answer, or a value with its kind.
func (c *Changed) Print(s *terminal.Session, value any) error {
	if !c.IsAsked() {
		return nil
	}
	raw, isRaw := value.([]byte)
	if !isRaw {
		var err error
		if raw, err = json.Marshal(value); err != nil {
			return err
		}
	}
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(raw); err != nil {
		return fmt.Errorf("reading what was changed: %w", err)
	}
	o.SetManagedFields(nil) // as kubectl: they are for programs, and long
	again := c.printed
	c.printed = true
	switch c.output {
	case "name":
		fmt.Fprintf(s.Out, "%s/%s\n", strings.ToLower(o.GetKind()), terminal.OneLine(o.GetName()))
		return nil
	case "json":
		return terminal.WriteJSON(s.Out, o.Object)
	}
	if again {
		fmt.Fprintln(s.Out, "---")
	}
	return terminal.WriteYAML(s.Out, o.Object)
}

// PrintRead reads an object that was as it should be already, and prints it.
func (c *Changed) PrintRead(ctx context.Context, s *terminal.Session, api *Client, path string) error {
	if !c.IsAsked() {
		return nil
	}
	body, err := Send(ctx, api.Raw.Get().AbsPath(path))
	if err != nil {
		return RequestError("reading "+path, err)
	}
	return c.Print(s, body)
}
