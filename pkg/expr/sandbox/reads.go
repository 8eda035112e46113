// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

// ReadsMetadataOnly finds out whether an evaluate script surely looks at nothing of an object but its metadata, kind and
// apiVersion. This is asked, once of each script, of the child that compiles, because only children read scripts.
func (p *Pool) ReadsMetadataOnly(ctx context.Context, source string) (only bool, err error) {
	if only, ok := p.compiled.readsMetadataOnly(source); ok {
		return only, nil
	}
	err = p.compiler.use(ctx, func(ctx context.Context, w *worker) error {
		if err := w.ready(ctx); err != nil {
			return err
		}
		request := appendBytes([]byte{askReads}, []byte(source))
		return w.ask(ctx, compileTimeout+grace+silence, [][]byte{request}, func(a answer) (bool, error) {
			switch a.kind {
			case answerYes, answerNo:
				only = a.kind == answerYes
				return true, nil
			}
			return false, &protocolError{"a wrong answer"}
		})
	})
	if err != nil {
		return false, err
	}
	p.compiled.putReads(source, only)
	return only, nil
}

// reads is the child's part.
func reads(source string) answer {
	if lua.ReadsMetadataOnly(source) {
		return answer{kind: answerYes}
	}
	return answer{kind: answerNo}
}
