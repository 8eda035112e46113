// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as kubectl: the ways to log in that a kubeconfig may name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// fieldManager is whose changes of a Cleaner the plugin's are.
const fieldManager = "kubectl-cleaner"

// connection is which cluster to talk to, and as whom: kubectl's flags, and its defaults.
type connection struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
}

// bind adds kubectl's flags of connection. All but the three of everyday are left out of the help.
func (c *connection) bind(flags *pflag.FlagSet) {
	c.rules = clientcmd.NewDefaultClientConfigLoadingRules()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{} // Cleaners belong to no namespace
	names.CurrentContext.Description = "the context of the kubeconfig to use"
	names.AuthOverrideFlags.Impersonate.Description = "the user to act as"
	own.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "the kubeconfig to use")
	clientcmd.BindOverrideFlags(&c.overrides, own, names)
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !slices.Contains([]string{"kubeconfig", "context", "as"}, flag.Name)
	})
	flags.AddFlagSet(own)
}

// connect returns a client of the cluster.
func connect(s *terminal.Session, c *connection) (*cluster, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			err = errors.New("there is no cluster to ask: no kubeconfig was found")
		} else {
			err = fmt.Errorf("reading the kubeconfig: %w", err)
		}
		return nil, terminal.Fail(codes.ClusterUnreachable, err, "give one with --kubeconfig or KUBECONFIG; kubectl config view shows what there is")
	}
	return clientFor(s, config)
}

// client makes a client that speaks plain JSON to absolute paths.
func clientFor(s *terminal.Session, config *rest.Config) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = fieldManager + "/" + s.Version
	config.QPS, config.RateLimiter = -1, nil // the server's own fairness decides
	config.WarningHandler = rest.NoWarnings{}
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	raw, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, terminal.Fail(codes.ClusterUnreachable, err, "")
	}
	return &cluster{raw, config}, nil
}

// cluster is an API server.
type cluster struct {
	raw    rest.Interface
	config *rest.Config
}

func cleanerPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("Cleaner"), Resource: "cleaners"}
	return kind.Path("", name)
}

func runPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("CleanerRun"), Resource: "cleanerruns"}
	return kind.Path("", name)
}

// read reads one object.
func (c *cluster) read(ctx context.Context, path string, into any) error {
	body, err := send(ctx, c.raw.Get().AbsPath(path))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// send returns the body of the answer, or the error with the server's own words, which Raw alone does not have.
func send(ctx context.Context, request *rest.Request) ([]byte, error) {
	if err := object.CheckPath(request.URL().Path); err != nil {
		return nil, err
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// cleaner reads a Cleaner. The error about one that does not exist names the nearest ones.
func (c *cluster) cleaner(ctx context.Context, name string) (*v1alpha1.Cleaner, error) {
	name = strings.TrimPrefix(name, "cleaner/") // as kubectl prints it
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, terminal.Fail(codes.CleanerNotFound, fmt.Errorf("%q cannot be the name of a Cleaner", name), "list them with: kubectl get cleaners; for a file, write -f before it")
	}
	var cleaner v1alpha1.Cleaner
	err := c.read(ctx, cleanerPath(name), &cleaner)
	switch {
	case err == nil:
		return &cleaner, nil
	case apierrors.IsNotFound(err):
		return nil, c.noCleaner(ctx, name)
	}
	return nil, requestError(fmt.Sprintf("reading cleaner %q", name), err)
}

// noCleaner says what there is instead.
func (c *cluster) noCleaner(ctx context.Context, name string) error {
	names, err := c.cleaners(ctx)
	missing := fmt.Errorf("there is no cleaner %q in the cluster", name)
	near := suggest.Nearest(name, names)
	switch {
	case apierrors.IsNotFound(err):
		return terminal.Fail(codes.CleanerNotFound, fmt.Errorf("the cluster does not know Cleaners: its CustomResourceDefinitions are not installed"), "install KubeCleaner, or preview a file: kubectl cleaner preview -f FILE")
	case err != nil:
		return terminal.Fail(codes.CleanerNotFound, missing, "")
	case len(names) == 0:
		return terminal.Fail(codes.CleanerNotFound, fmt.Errorf("%w; it has none at all", missing), "")
	case near != "":
		return terminal.Fail(codes.CleanerNotFound, missing, "did you mean "+terminal.Quoted(near)+"?")
	case len(names) > 10:
		return terminal.Fail(codes.CleanerNotFound, missing, "list them with: kubectl get cleaners")
	}
	return terminal.Fail(codes.CleanerNotFound, missing, "there are: "+strings.Join(names, ", "))
}

// cleaners are the names of all Cleaners.
func (c *cluster) cleaners(ctx context.Context) ([]string, error) {
	var names []string
	err := list[v1alpha1.CleanerList](ctx, c, cleanerPath(""), func(cleaner *v1alpha1.Cleaner) { names = append(names, cleaner.Name) })
	return names, err
}

// completeCleaners completes the names of Cleaners.
func completeCleaners(s *terminal.Session, c *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		api, err := connect(s, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, _ := api.cleaners(cmd.Context()) // none, when it fails
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// requestError says what went wrong with a request.
func requestError(doing string, err error) error {
	var network *net.OpError
	wrapped := fmt.Errorf("%s: %w", doing, err)
	switch {
	case apierrors.IsForbidden(err):
		return terminal.Fail(codes.ClusterForbidden, wrapped, "")
	case apierrors.IsUnauthorized(err):
		return terminal.Fail(codes.ClusterForbidden, fmt.Errorf("%s: the cluster does not know you (%d)", doing, http.StatusUnauthorized), "log in again; kubectl config view --minify shows as whom you ask")
	case errors.As(err, &network):
		return terminal.Fail(codes.ClusterUnreachable, wrapped, "kubectl config view --minify shows which cluster is asked")
	}
	return terminal.Fail(codes.ClusterFailed, wrapped, "")
}
