// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Transform calls transform for one object. The patch is a JSON merge patch (RFC 7386) of what the script changed; nil
// when it changed nothing. A larger one than object.MaxPatch is a PatchSizeError. It never touches the object's
// identity.
func (s *Session) Transform(
	ctx context.Context,
	source string,
	o object.Object,
) (patch object.JSON, message string, err error) {
	b := newBatch(o.Kind)
	b.add(o, nil)
	err = s.use(ctx, func(ctx context.Context, w *worker) error {
		patch, message, err = s.transform(ctx, w, source, b)
		var died *death
		if errors.As(err, &died) && died.kind == BudgetKilled {
			patch, message, err = s.transform(ctx, w, source, b) // by somebody else: once more
		}
		if errors.As(err, &died) {
			err = s.fault(died, s.options.ObjectTimeout)
		}
		if exhausted(err) {
			s.exhaust(o, err)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return patch, message, nil
}

func (s *Session) transform(
	ctx context.Context,
	w *worker,
	source string,
	b *batch,
) (patch object.JSON, message string, err error) {
	if err := s.impatient(); err != nil {
		return nil, "", err
	}
	if err := w.ready(ctx); err != nil {
		return nil, "", err
	}
	program, err := w.program(ctx, source)
	if err != nil {
		return nil, "", err
	}
	one, err := w.one(
		ctx,
		s.options.ObjectTimeout+grace+silence,
		b.request(askTransform, program.number, 0, 1),
		answerPatch,
	)
	if err != nil {
		return nil, "", err
	}
	if fault := one.fault(); fault != nil {
		return nil, "", fault
	}
	patch, err = readPatch(one.raw)
	var forged *protocolError
	if errors.As(err, &forged) {
		w.bury()
	}
	if err != nil {
		return nil, "", err
	}
	return patch, one.text, nil
}

// readPatch checks a patch that comes from a child, which does so as well. What it returns was written here: no field
// stands in it twice.
func readPatch(raw []byte) (object.JSON, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > object.MaxPatch {
		return nil, &object.PatchSizeError{Bytes: len(raw)}
	}
	value, err := object.JSON(raw).Decode()
	patch, ok := value.(map[string]any)
	if err != nil || !ok || !json.Valid(raw) {
		return nil, &protocolError{"a patch that is no map"}
	}
	if err := object.CheckPatch(patch); err != nil {
		return nil, &protocolError{fmt.Sprintf("a patch that is not allowed: %v", err)}
	}
	return object.EncodePatch(patch)
}
