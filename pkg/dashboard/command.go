// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/doctor"
	"github.com/kubecleaner/kubecleaner/pkg/cli/notify"
	"github.com/kubecleaner/kubecleaner/pkg/cli/restore"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/cli/why"
	back "github.com/kubecleaner/kubecleaner/pkg/journal/restore"
)

// command is a command of kubectl cleaner that is called as the person, with what it prints for programs. So the page
// says the same as the command line.
type command struct {
	of     func(*terminal.Session) *cobra.Command
	args   []string
	in     string
	errOut io.Writer
}

// call runs the command and returns what it wrote. An error with output is one that the output reports: something could
// not be read, or was not done.
func (s *Server) call(ctx context.Context, p *person, c command) ([]byte, error) {
	if c.errOut == nil {
		c.errOut = io.Discard
	}
	var out bytes.Buffer
	session := terminal.New(
		genericiooptions.IOStreams{In: strings.NewReader(c.in), Out: &out, ErrOut: c.errOut},
		terminal.Options{
			Version: s.Version, Scripts: s.Scripts, Cluster: p.api.Config, Now: s.Now, Getenv: func(string) string { return "" },
		})
	session.Color = "never"
	cmd := c.of(session)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{}, c.args...))
	err := cmd.ExecuteContext(ctx)
	return out.Bytes(), errors.Join(err, session.WriteError())
}

// output runs the command and returns what it wrote, and the error that this reports. One without output is err.
func (s *Server) output(ctx context.Context, p *person, c command) (out []byte, failure, err error) {
	leave, err := s.enter(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	out, failure = s.call(ctx, p, c)
	if len(out) == 0 && failure != nil {
		return nil, nil, usageOf(failure)
	}
	return out, failure, nil
}

// runJSON runs the command and reads what it printed, which also says what the command could not do.
func (s *Server) runJSON(ctx context.Context, p *person, c command, into any) error {
	out, _, err := s.output(ctx, p, c)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// usageOf is the error with the status of a wrong request, if it is one.
func usageOf(err error) error {
	var failure *terminal.Failure
	if !errors.As(err, &failure) {
		return err
	}
	f := failureOf(err)
	switch failure.Code {
	case codes.UsageWrong:
		f.Status, f.Body.Hint = http.StatusBadRequest, "" // which names the command's help
	case codes.ObjectNotFound, codes.RunNotFound, codes.CleanerNotFound, codes.WhyNotFound:
		f.Status = http.StatusNotFound
	case codes.PlanNotWaiting:
		f.Status = http.StatusConflict
	}
	return f
}

func (s *Server) why(r *http.Request, p *person) (int, any, error) {
	object := r.URL.Query().Get("object")
	if strings.Count(object, "/") < 1 {
		return 0, nil, badRequest("object must be KIND/NAMESPACE/NAME or KIND/NAME")
	}
	out, failure, err := s.output(r.Context(), p, command{
		of: why.Command, args: []string{"-o", "json", "--progress=none", "--", object},
	})
	if err != nil {
		return 0, nil, err
	}
	var answer struct {
		Users []json.RawMessage `json:"users"`
	}
	err = json.Unmarshal(out, &answer)
	if failure != nil && len(answer.Users) == 0 {
		if f := failureOf(usageOf(failure)); f.Status == http.StatusNotFound {
			err = f // nothing is known of it but that it is not there
		}
	}
	return http.StatusOK, json.RawMessage(out), err
}

func (s *Server) doctor(r *http.Request, p *person) (int, any, error) {
	args := []string{"-o", "json", "--progress=none"}
	if s.OperatorNamespace != "" {
		args = append(args, "--operator-namespace="+s.OperatorNamespace)
	}
	var answer json.RawMessage
	err := s.runJSON(r.Context(), p, command{of: doctor.Command, args: args}, &answer)
	return http.StatusOK, answer, err
}

// notifyTest sends a sample from this server, with Secrets that the person may read.
func (s *Server) notifyTest(r *http.Request, p *person) (int, any, error) {
	c, err := readCleaner(r.Context(), p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	leave, err := s.join(r.Context(), s.samples, p)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	args := []string{"test"}
	if page := s.ownAddress(r); page != "" {
		args = append(args, "--dashboard-url="+page)
	}
	args = append(args, "--", r.PathValue("name"))
	if channel := r.URL.Query().Get("notification"); channel != "" {
		args = append(args, channel)
	}
	var notes bytes.Buffer
	out, err := s.call(r.Context(), p, command{of: notify.Command, args: args, errOut: &notes})
	s.audit(r.Context(), p, cleanerRef(c), deed{
		reason: "NotificationTested", text: "sent samples on the channels of Cleaner " + c.Name,
	})
	text := strings.TrimSpace(string(out) + notes.String())
	if err != nil && text == "" {
		text = err.Error()
	}
	return http.StatusOK, CommandResult{OK: err == nil, Output: sampleText(text)}, nil
}

// ownAddress is where everybody finds this page, as the request says and the option Hosts confirms. Empty for a page
// that one person opened on his own machine.
func (s *Server) ownAddress(r *http.Request) string {
	if s.Mode == ModeLocal || len(s.Hosts) == 0 || strings.EqualFold(nameOf(r.Host), "localhost") {
		return ""
	}
	return "https://" + r.Host
}

// restorePlan is what a restore would do now: the API server tries it.
func (s *Server) restorePlan(r *http.Request, p *person) (int, any, error) {
	query := r.URL.Query()
	plan, err := s.restoreWith(r.Context(), p, r.PathValue("name"), RestoreRequest{
		query["only"],
		query.Get("force") == "true",
	}, "--dry-run")
	return http.StatusOK, plan, err
}

func (s *Server) restore(r *http.Request, p *person) (int, any, error) {
	var request RestoreRequest
	if err := read(r, &request); err != nil {
		return 0, nil, err
	}
	plan, err := s.restoreAudited(r.Context(), p, r.PathValue("name"), request)
	return http.StatusOK, plan, err
}

func (s *Server) restoreAudited(ctx context.Context, p *person, name string, request RestoreRequest) (*RestorePlan,
	error,
) {
	run, err := readRun(ctx, p, name)
	if err != nil {
		return nil, err
	}
	plan, err := s.restoreWith(ctx, p, name, request, "--yes")
	if err == nil {
		s.audit(ctx, p, runRef(run), deed{reason: "Restored", text: restoredText(plan)})
	}
	return plan, err
}

func (s *Server) restoreWith(ctx context.Context, p *person, run string, request RestoreRequest,
	how string,
) (*RestorePlan, error) {
	args := []string{how, "-o", "json", "--progress=none"}
	if request.Force {
		args = append(args, "--force")
	}
	for _, only := range request.Only {
		args = append(args, "--only="+only)
	}
	var plan RestorePlan
	return &plan, s.runJSON(ctx, p, command{of: restore.Command, args: append(args, "--", run)}, &plan)
}

// rollback restores the latest run of the Report's Cleaner that keeps copies.
func (s *Server) rollback(r *http.Request, p *person) (int, any, error) {
	name := r.PathValue("name")
	runs, err := runRows(r.Context(), p, func(row RunRow) bool { return row.Cleaner == name })
	if err != nil {
		return 0, nil, err
	}
	i := slices.IndexFunc(runs, func(row RunRow) bool { return row.Copies > 0 })
	if i < 0 {
		return 0, nil, notFound("no run of Cleaner %s keeps copies", name)
	}
	plan, err := s.restoreAudited(r.Context(), p, runs[i].Name, RestoreRequest{})
	if err != nil {
		return 0, nil, err
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		o.Success = ptr.To(slices.Contains([]string{string(back.Restored), string(back.Already)}, o.Outcome))
		o.Message = cmp.Or(o.Reason, o.Outcome)
	}
	return http.StatusOK, plan, nil
}
