// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// answerPatience is how long the operator may take to notice a request before the command says what may be wrong.
const answerPatience = 10 * time.Second

// follower finds out from a Cleaner what became of a request.
type follower struct {
	cleaner string
	uid     types.UID
	value   string
	// run is the CleanerRun's name, once it is known.
	run string
	// queued is whether it waits for its turn, so that there is no CleanerRun yet.
	queued bool
	// phase says what is waited for.
	phase string
	// answered is whether the operator is seen to do something about it.
	answered bool
}

func newFollower(asked *v1alpha1.Cleaner) *follower {
	return &follower{cleaner: asked.Name, uid: asked.UID, value: asked.RunRequest(), phase: "waiting for the operator"}
}

// see is step for what was sighted, which may be an error.
func (f *follower) see(s sighting) (ended bool, err error) {
	if s.err != nil {
		return false, s.err
	}
	return f.step(s.cleaner)
}

// step looks at the Cleaner as it is now, and reports whether the run has ended. An error means that there is nothing
// to wait for.
func (f *follower) step(c *v1alpha1.Cleaner) (ended bool, err error) {
	if c.UID != f.uid {
		return false, terminal.Fail(
			codes.RunNotBegun,
			fmt.Errorf("cleaner %q was deleted and created again; the request was for the one before", f.cleaner),
			"",
		)
	}
	if f.run == "" {
		if err := f.find(c); err != nil || f.run == "" {
			return false, err
		}
	}
	f.goesOn()
	switch status := &c.Status; {
	case status.ActiveRun != nil && status.ActiveRun.Name == f.run:
		return false, nil
	case status.LastRun != nil && status.LastRun.Name == f.run, status.ActiveRun != nil:
		return true, nil
	}
	return false, f.notBegun(c) // it was the active run, is not any more, and left no result
}

// find finds the run that answers the request, once it is answered.
func (f *follower) find(c *v1alpha1.Cleaner) error {
	status := &c.Status
	if f.run = answer(status, f.value); f.run == "" && status.LastHandledRunRequest != f.value {
		if err := f.waiting(c); err != nil || status.LastHandledRunRequest != f.value {
			return err
		}
		f.run = answer(status, f.value)
	}
	if f.answered = true; f.run == "" {
		return f.notBegun(c)
	}
	return nil
}

// answer is the name of the run that answers a request. Empty if the status knows of none.
func answer(status *v1alpha1.CleanerStatus, request string) string {
	switch {
	case status.ActiveRun != nil && status.ActiveRun.RunRequest == request:
		return status.ActiveRun.Name
	case status.LastRun != nil && status.LastRun.RunRequest == request:
		return status.LastRun.Name
	}
	return ""
}

// goesOn says what the run is doing.
func (f *follower) goesOn() {
	f.phase = "run " + f.run + " is active"
	if f.queued {
		f.phase = "run " + f.run + " has not begun yet: it waits for its turn (--max-parallel-runs of the operator)"
	}
}

// waiting takes note of what the request waits for.
func (f *follower) waiting(c *v1alpha1.Cleaner) error {
	switch requested := c.RunRequest(); requested {
	case f.value:
	case "":
		return terminal.Fail(
			codes.RunNotBegun,
			fmt.Errorf(
				"the request was taken back: cleaner %q does not have the annotation %s any more",
				f.cleaner,
				v1alpha1.RunRequestedAtAnnotation,
			),
			"",
		)
	default: // somebody else asked as well; one run answers both
		f.value = requested
	}
	f.phase, f.answered = "waiting for the operator", false
	if active := c.Status.ActiveRun; active != nil {
		f.phase, f.answered = "waiting for the run "+active.Name+" to end", true
	}
	return nil
}

// notBegun says why there is no run.
func (f *follower) notBegun(c *v1alpha1.Cleaner) error {
	message := "the operator did not say why"
	if condition := meta.FindStatusCondition(
		c.Status.Conditions,
		v1alpha1.ConditionRunSucceeded,
	); condition != nil &&
		condition.Status == metav1.ConditionFalse {
		message = condition.Message
	}
	return terminal.Fail(
		codes.RunNotBegun,
		fmt.Errorf("cleaner %q did not run: %s", f.cleaner, message),
		"see: kubectl describe cleaner "+f.cleaner,
	)
}

// follow waits for the end of the run, and reports it.
func (o *options) follow(parent context.Context, api *cluster.Client, f *follower) error {
	ctx, cancel := context.WithTimeout(parent, o.timeout)
	defer cancel()
	progress := o.StartProgress(o.progress)
	defer progress.Stop()
	seen := make(chan sighting)
	go func() { defer close(seen); lookAtCleaner(ctx, api, o.Clock, f.cleaner, seen) }()
	unanswered := o.Clock.After(answerPatience)
	var howFar chan look
	for {
		progress.Begin(f.phase, false)
		if f.run != "" && howFar == nil {
			howFar = make(chan look)
			go o.lookAtRun(ctx, api, f.run, howFar)
		}
		select {
		case now := <-howFar:
			f.queued = now.absent
			f.goesOn()
			progress.Begin(f.phase, false)
			progress.Elsewhere(now.progress)
		case <-unanswered:
			unanswered = nil
			if !f.answered {
				progress.Beside(func() { o.reportUnanswered() })
			}
		case sight, ok := <-seen:
			if !ok {
				progress.Stop()
				return o.left(parent, f)
			}
			ended, err := f.see(sight)
			if err != nil {
				return err
			}
			if ended {
				progress.Stop()
				return o.reportEnd(ctx, api, f, sight.cleaner)
			}
		}
	}
}

func (o *options) reportUnanswered() {
	o.Note("the operator has not seen the request yet; is it running? see: kubectl -n %s get deployments",
		cmp.Or(o.Getenv("NAMESPACE"), cluster.DefaultOperatorNamespace))
}

// left says what happens without the user who stopped waiting, by Ctrl-C or --timeout.
func (o *options) left(parent context.Context, f *follower) error {
	state, code, hint := "the run "+f.run+" goes on", codes.RunTimeout,
		"to follow it: kubectl get cleanerrun "+f.run+" -o wide --watch; "+f.howToStop()
	if f.queued {
		state, hint = "the run "+f.run+" has not begun yet, and begins without you when its turn comes", "to follow it: kubectl get cleaner "+f.cleaner+" -o wide --watch; "+f.howToStop()
	}
	if f.run == "" {
		state, hint = "the request stays, and the run begins as soon as the operator sees it", "to follow it: kubectl get cleaner "+f.cleaner+" -o wide --watch; "+
			"to take it back: "+terminal.Program+" cancel "+f.cleaner
		if !f.answered {
			code = codes.RunNotAnswered
		}
	}
	if parent.Err() != nil {
		o.Note("%s; %s", state, hint)
		return context.Cause(parent)
	}
	return terminal.Fail(code, fmt.Errorf("the run did not end within %s (--timeout); %s", o.timeout, state), hint)
}
