// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// patient is an installation, as far as several checks look at it. What could not be read has an error instead.
type patient struct {
	*options
	api    *cluster.Client
	reader *selector.Reader
	// kubernetes is what the API server says of itself. here is the time by the clock of this machine, and there by that
	// of the API server.
	kubernetes version.Info
	// unversioned says why that is not known.
	unversioned error
	here, there time.Time
	// undated says why it is not known what time it is by the API server.
	undated error
	// deployment is the operator's, if it was found. others are those of other operators, and legacies those of
	// k8s-cleaner.
	deployment       *appsv1.Deployment
	others, legacies []appsv1.Deployment
	// deploymentsErr says why Deployments could not be read, and workloadErrs why these and other workloads could not:
	// each has one, which may be nil.
	deploymentsErr error
	workloadErrs   []error
	// namespace is the operator's, args the arguments of its container, and holder who leads there, if somebody does.
	namespace string
	args      []string
	holder    string
	// cleaners are those that are checked, and all the others too that say something of the installation.
	cleaners, all []v1alpha1.Cleaner
	// cleanersErr says why the Cleaners could not be read.
	cleanersErr error
	// drops is true when the API server drops fields of Cleaners. The check crds finds it out.
	drops bool
	// declaredErr says why it is not known which references users declared. Their kinds are read for findings, except
	// those that are unserved.
	declaredErr error
	unserved    []string
	needed      *rights.Source
	reviews     *rights.Reviewer
}

// examine reads what several checks need. An API server that does not answer is an error: then nothing can be checked.
func (o *options) examine(ctx context.Context, api *cluster.Client) (*patient, error) {
	p := &patient{options: o, api: api}
	if err := p.greet(ctx); err != nil {
		return nil, cluster.RequestError("asking the API server for its version", err)
	}
	p.reader = selector.NewReader(api.Raw, cluster.Instant(p.here))
	p.readOperators(ctx)
	if err := p.misplaced(ctx); err != nil {
		return nil, err
	}
	if err := p.readCleaners(ctx); err != nil {
		return nil, err
	}
	p.needed = &rights.Source{Reader: p.reader, Survey: survey.Options{Now: p.here}}
	if slices.ContainsFunc(p.cleaners, func(c v1alpha1.Cleaner) bool { return c.HasFindings() }) {
		p.declare(ctx)
	}
	p.reviews = rights.NewReviewer(api)
	return p, nil
}

// declare reads which references users declared.
func (p *patient) declare(ctx context.Context) {
	catalog, err := p.reader.Catalog(ctx)
	if err != nil {
		p.declaredErr = &survey.DeclaredError{Namespace: p.namespace, Err: err}
		return
	}
	declared, err := survey.Declared(ctx, p.reader, &catalog, p.namespace)
	p.needed.Survey.Catalog, p.needed.Survey.Declared, p.declaredErr = &catalog, declared, err
	p.unserved = survey.Unserved(&catalog, declared)
}

// readCleaners reads all Cleaners. It is an error if --selector selects none of them.
func (p *patient) readCleaners(ctx context.Context) error {
	p.cleanersErr = cluster.List[v1alpha1.CleanerList](
		ctx,
		p.api,
		cluster.CleanerPath(""),
		func(c *v1alpha1.Cleaner) {
			p.all = append(p.all, *c)
			if p.wanted.Matches(labels.Set(c.Labels)) {
				p.cleaners = append(p.cleaners, *c)
			}
		},
	)
	if p.cleanersErr == nil && len(p.cleaners) == 0 && !p.wanted.Empty() {
		return cluster.NoneSelected(p.wanted)
	}
	return nil
}

// greet asks the API server for its version, and for the time.
func (p *patient) greet(ctx context.Context) error {
	connections, err := rest.HTTPClientFor(p.api.Config)
	if err != nil {
		return err
	}
	defer connections.CloseIdleConnections()
	request, err := http.NewRequestWithContext(
		ctx,
		http.MethodGet,
		p.api.Raw.Get().AbsPath("/version").URL().String(),
		nil,
	)
	if err != nil {
		return err
	}
	response, err := connections.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	p.here = p.Now()
	if p.there, p.undated = http.ParseTime(response.Header.Get("Date")); p.undated != nil {
		p.there = p.here
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var status metav1.Status
		_ = json.Unmarshal(body, &status) // another server may say it in other words
		p.unversioned = fmt.Errorf("GET /version: %s: %s", response.Status, status.Message)
		return nil
	}
	p.unversioned = json.Unmarshal(body, &p.kubernetes)
	return nil
}

// isLegacy goes by the labels of k8s-cleaner and, because others may have been chosen, by its image and its account.
func isLegacy(d *appsv1.Deployment) bool {
	const name = "k8s-cleaner"
	spec := &d.Spec.Template.Spec
	if d.Labels["app.kubernetes.io/name"] == name || d.Labels["control-plane"] == name ||
		d.Spec.Template.Labels["control-plane"] == name || spec.ServiceAccountName == name+"-controller" {
		return true
	}
	return slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
		return strings.HasSuffix("/"+cluster.ImageName(c.Image), "/"+name)
	})
}

func argsOf(d *appsv1.Deployment) (args []string) {
	for _, c := range d.Spec.Template.Spec.Containers {
		args = append(append(args, c.Command...), c.Args...)
	}
	return args
}

// flag is the value of one of the operator's flags: the last one counts. Names may be written with underscores, as the
// operator reads them.
func (p *patient) flag(name string) (value string, given bool) {
	for i, arg := range p.args {
		key, written, has := strings.Cut(arg, "=")
		if !strings.HasPrefix(key, "-") || strings.ReplaceAll(strings.TrimLeft(key, "-"), "_", "-") != name {
			continue
		}
		value, given = written, true
		if !has && i+1 < len(p.args) && !strings.HasPrefix(p.args[i+1], "-") {
			value = p.args[i+1]
		}
	}
	return value, given
}

// isSet reports whether a flag that is true or false is true, as the operator reads it.
func (p *patient) isSet(name string) bool {
	value, given := p.flag(name)
	is, err := strconv.ParseBool(value)
	return given && (is || err != nil)
}

// ref names an object, as lines do.
func ref(parts ...string) string { return terminal.OneLine(strings.Join(parts, "/")) }

// refTo names a workload, as lines do.
func refTo(d *appsv1.Deployment) string { return ref(d.Kind, d.Namespace, d.Name) }
