// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// Confirm asks whether to go on. Without a yes it fails with the code, and says that nothing was done. instead is the
// way out for who has nobody to answer.
func (s *Session) Confirm(code codes.Code, nothing, instead string) error {
	fmt.Fprint(s.ErrOut, "Go on? [y/N] ")
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	switch answer = strings.ToLower(strings.TrimSpace(answer)); {
	case answer == "y" || answer == "yes":
		return nil
	case err != nil:
		fmt.Fprintln(s.ErrOut)
		return Fail(code, errors.New(nothing+": nobody confirmed it"), "without a terminal, use --yes; "+instead)
	}
	return Fail(code, errors.New(nothing+": you did not confirm it"), "")
}
