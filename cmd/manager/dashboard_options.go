// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

// dashboardOptions are what the command line of manager dashboard says.
type dashboardOptions struct {
	bindAddress, tlsCertFile, tlsPrivateKeyFile string
	insecureBehindProxy                         bool
	hosts                                       pageHosts
	readOnly                                    bool
	operatorNamespace, kubernetesCAFile         string
	logLevel, logFormat                         string
}

// pageHosts are the names under which people open the page.
type pageHosts struct {
	names egress.Hosts
	any   bool
}

// String implements flag.Value.
func (h *pageHosts) String() string {
	if h.any {
		return "*"
	}
	return strings.Join(h.list(), ",")
}

// Set implements flag.Value.
func (h *pageHosts) Set(text string) error {
	if h.any = text == "*"; h.any {
		return nil
	}
	return h.names.Set(text)
}

// list is empty for any name.
func (h *pageHosts) list() []string {
	if h.any {
		return nil
	}
	return slices.Sorted(maps.Keys(h.names))
}

// parseDashboard reads the command line of manager dashboard.
func parseDashboard(args []string, namespace string, output io.Writer) (*dashboardOptions, *flag.FlagSet, error) {
	o := &dashboardOptions{}
	fs := flag.NewFlagSet("manager dashboard", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // parseFlags says what is wrong
	o.bind(fs, cmp.Or(namespace, defaultNamespace))
	err := parseFlags(fs, dashes(args))
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(output, "manager dashboard serves KubeCleaner's dashboard (a web page) to the people of a cluster. It acts with their rights, and has none of its own.\n\nFlags:")
		printFlags(output, fs)
		fmt.Fprintln(output, "\nEnvironment:\n  NAMESPACE                     default of --operator-namespace")
	}
	if err != nil {
		return nil, fs, err
	}
	return o, fs, o.validate()
}

func (o *dashboardOptions) bind(fs *flag.FlagSet, namespace string) {
	fs.StringVar(&o.bindAddress, "bind-address", ":8443", "where the dashboard is served, with /healthz and /readyz")
	fs.StringVar(&o.tlsCertFile, "tls-cert-file", "", "file with the certificate (PEM), read again when it changes")
	fs.StringVar(&o.tlsPrivateKeyFile, "tls-private-key-file", "", "file with the certificate's key (PEM)")
	fs.BoolVar(&o.insecureBehindProxy, "insecure-behind-proxy", false, "serve without TLS, behind a proxy that terminates TLS: whoever reaches the port some other way can read the tokens of people; the cookie stays Secure, so that browsers must use HTTPS with the proxy")
	fs.Var(&o.hosts, "hosts", "comma-separated names, without ports, under which people open the dashboard, such as cleaner.example.com,localhost; required: requests for other names are refused; * means any name")
	fs.BoolVar(&o.readOnly, "read-only", false, "refuse everything that changes something, whatever the person may do")
	fs.StringVar(&o.operatorNamespace, "operator-namespace", namespace, "the operator's namespace, where copies are")
	fs.StringVar(&o.kubernetesCAFile, "kubernetes-ca-file", "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", "file with the authorities (PEM) of the API server, as in the ConfigMap kube-root-ca.crt of each namespace, read again every 5 minutes")
	fs.StringVar(&o.logLevel, "log-level", "info", "what is logged: error, info or debug")
	fs.StringVar(&o.logFormat, "log-format", "json", "format of the log: json or text")
}

// validate returns all problems at once. Without a certificate, and without the names of its hosts, nothing is served
// unless the flags say so.
func (o *dashboardOptions) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(o.bindAddress)
	check(err == nil, "--bind-address is %q; write an address such as :8443", o.bindAddress)
	files := o.tlsCertFile != "" || o.tlsPrivateKeyFile != ""
	switch {
	case o.insecureBehindProxy:
		check(!files, "--insecure-behind-proxy serves without TLS; remove it, or --tls-cert-file and --tls-private-key-file")
	case !files:
		check(false, "there is no certificate; set --tls-cert-file and --tls-private-key-file or, if a proxy in front ends TLS, --insecure-behind-proxy")
	default:
		check(o.tlsCertFile != "" && o.tlsPrivateKeyFile != "", "--tls-cert-file and --tls-private-key-file belong together; set both")
	}
	check(o.hosts.any || len(o.hosts.names) > 0, "--hosts is not set; write the names under which people open the dashboard, such as cleaner.example.com,localhost, or * for any name")
	check(len(validation.IsDNS1123Label(o.operatorNamespace)) == 0, "--operator-namespace is %q; it must be the name of a namespace", o.operatorNamespace)
	errs = append(errs, validateLogs(o.logLevel, o.logFormat)...)
	return errors.Join(errs...)
}
