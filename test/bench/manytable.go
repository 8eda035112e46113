// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// settle is how long after all is reconciled the memory is looked at.
const settle = 30 * time.Second

// manyTable is what was measured with many Cleaners.
type manyTable struct {
	out    io.Writer
	server server
	rows   [][]string
	before [3]time.Duration
}

// measure does it all, in order.
func (t *manyTable) measure(ctx context.Context, c *crowd, start func() (*managed, error), total int) error {
	for _, row := range [][2]string{
		{"all reconciled for the first time", ""},
		{"all reconciled after a restart", "<= 20 s"},
	} {
		m, err := start()
		if err != nil {
			return err
		}
		if err := errors.Join(t.reconciled(ctx, m, row, total), m.stop()); err != nil {
			return err
		}
	}
	m, err := start()
	if err != nil {
		return err
	}
	return errors.Join(t.idleAndDue(ctx, c, m, total), m.stop())
}

// begin notes the CPU times. A manager that has just started has none.
func (t *manyTable) begin(m *managed) (err error) {
	t.before, err = t.cpu(m)
	return err
}

func (t *manyTable) cpu(m *managed) (all [3]time.Duration, err error) {
	var errs [3]error
	all[0], errs[0] = cpuOf(m.cmd.Process.Pid)
	all[1], errs[1] = cpuOfChildren(m.cmd.Process.Pid)
	all[2], errs[2] = cpuOf(t.server.pid)
	return all, errors.Join(errs[:]...)
}

// add adds a row.
func (t *manyTable) add(m *managed, what, target, format string, args ...any) error {
	now, err := t.cpu(m)
	if err != nil {
		return err
	}
	row := []string{what, fmt.Sprintf(format, args...), target}
	for i := range now {
		row = append(row, fmt.Sprintf("%.1f", (now[i]-t.before[i]).Seconds()))
	}
	t.rows = append(t.rows, row)
	fmt.Fprintln(t.out, row)
	return nil
}

func (t *manyTable) reconciled(ctx context.Context, m *managed, row [2]string, total int) error {
	if err := t.begin(m); err != nil {
		return err
	}
	took, err := m.reconciled(ctx, total)
	if err != nil {
		return err
	}
	return t.add(m, row[0], row[1], "%.1f s", took.Seconds())
}

func (t *manyTable) idleAndDue(ctx context.Context, c *crowd, m *managed, total int) error {
	if _, err := m.reconciled(ctx, total); err != nil {
		return err
	}
	if err := errors.Join(pause(ctx, settle), t.begin(m)); err != nil {
		return err
	}
	idle, err := memoryOf(m.cmd.Process.Pid)
	if err != nil {
		return err
	}
	err = t.add(m, "memory when nothing is due", "<= 120 MB", "%.0f MB, of which %.0f anonymous; peak %.0f MB",
		megabytes(idle.anonymous+idle.files), megabytes(idle.anonymous), megabytes(idle.peak))
	if err != nil {
		return err
	}
	for _, which := range []string{"not known to be quick", "known to be quick"} {
		before, errRequests := t.server.requests(ctx)
		if err := errors.Join(errRequests, t.begin(m)); err != nil {
			return err
		}
		found, err := c.dueTogether(ctx)
		if err != nil {
			return err
		}
		err = t.add(m, fmt.Sprintf("%d due together, %s", c.due, which), "begun <= 60 s", "half begun after %.0f s, all after %.0f s; all over after %.0f s",
			found.half.Seconds(), found.begun.Seconds(), found.over.Seconds())
		after, errRequests := t.server.requests(ctx)
		if err := errors.Join(err, errRequests); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "Requests for each of them, with those that made it due and looked at it: %s\n", after.since(before, c.due))
	}
	last, err := memoryOf(m.cmd.Process.Pid)
	if err != nil {
		return err
	}
	return errors.Join(t.begin(m), t.add(m, "peak memory of the manager, without its children", "", "%.0f MB",
		megabytes(last.peak)))
}
