// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is how commands talk to an API server: connecting as kubectl does, requests whose errors name the way
// out, and what several commands read, such as Cleaners and their runs.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
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
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// DefaultOperatorNamespace is where the operator is installed unless somebody chose otherwise.
const DefaultOperatorNamespace = "projectsveltos"

// FieldManager is whose changes of a Cleaner the plugin's are.
const FieldManager = "kubectl-cleaner"

// Connection is which cluster to talk to, and as whom: kubectl's flags, and its defaults.
type Connection struct {
	rules     *clientcmd.ClientConfigLoadingRules
	Overrides clientcmd.ConfigOverrides
	flags     *pflag.FlagSet
}

// Bind adds kubectl's flags of connection. All but the three of everyday are left out of the help.
func (c *Connection) Bind(flags *pflag.FlagSet) {
	c.rules = clientcmd.NewDefaultClientConfigLoadingRules()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{} // Cleaners belong to no namespace
	names.CurrentContext.Description = "the context of the kubeconfig to use"
	names.AuthOverrideFlags.Impersonate.Description = "the user to act as"
	own.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "the kubeconfig to use")
	clientcmd.BindOverrideFlags(&c.Overrides, own, names)
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !slices.Contains([]string{"kubeconfig", "context", "as"}, flag.Name)
	})
	flags.AddFlagSet(own)
	c.flags = own
}

// Given is the first flag of the connection that was given. Empty when there is none.
func (c *Connection) Given() (name string) {
	c.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && name == "" {
			name = flag.Name
		}
	})
	return name
}

// Connect returns a client of the cluster.
func Connect(s *terminal.Session, c *Connection) (*Client, error) {
	return connect(s, c.rules, &c.Overrides)
}

// ConnectAsYourself is Connect without --as and the like: what a preview as an account needs besides what the account
// sees.
func ConnectAsYourself(s *terminal.Session, c *Connection) (*Client, error) {
	yourself := c.Overrides
	info := &yourself.AuthInfo
	info.Impersonate, info.ImpersonateUID, info.ImpersonateGroups, info.ImpersonateUserExtra = "", "", nil, nil
	return connect(s, c.rules, &yourself)
}

func connect(
	s *terminal.Session,
	rules *clientcmd.ClientConfigLoadingRules,
	overrides *clientcmd.ConfigOverrides,
) (*Client, error) {
	if s.Cluster != nil {
		return New(s, s.Cluster)
	}
	config, err := load(rules, overrides)
	if err != nil {
		return nil, err
	}
	return New(s, config)
}

func load(rules *clientcmd.ClientConfigLoadingRules, overrides *clientcmd.ConfigOverrides) (*rest.Config, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			err = errors.New("no kubeconfig was found")
		} else {
			err = fmt.Errorf("reading the kubeconfig: %w", err)
		}
		return nil, terminal.Fail(
			codes.ClusterUnreachable,
			err,
			"set --kubeconfig or KUBECONFIG; to see the contexts: kubectl config view",
		)
	}
	return config, nil
}

// New makes a client that speaks plain JSON to absolute paths.
func New(s *terminal.Session, config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = FieldManager + "/" + s.Version
	config.QPS, config.RateLimiter = -1, nil // the server's own fairness decides
	config.WarningHandler = rest.NoWarnings{}
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	raw, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, terminal.Fail(codes.ClusterUnreachable, err, "")
	}
	return &Client{raw, config}, nil
}

// Client is an API server.
type Client struct {
	// Raw sends requests to absolute paths.
	Raw    rest.Interface
	Config *rest.Config
}

// CleanerPath is where a Cleaner is; without a name, where all are.
func CleanerPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("Cleaner"), Resource: "cleaners"}
	return kind.Path("", name)
}

// RunPath is where a CleanerRun is; without a name, where all are.
func RunPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("CleanerRun"), Resource: "cleanerruns"}
	return kind.Path("", name)
}

// Config is the connection as client-go wants it, for programs that speak for the caller themselves.
func (c *Connection) Config() (*rest.Config, error) { return load(c.rules, &c.Overrides) }

// Read reads one object.
func (c *Client) Read(ctx context.Context, path string, into any) error {
	body, err := Send(ctx, c.Raw.Get().AbsPath(path))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// Send returns the body of the answer, or the error with the server's own words, which Raw alone does not have.
func Send(ctx context.Context, request *rest.Request) ([]byte, error) {
	if err := apiserver.CheckPath(request.URL().Path); err != nil {
		return nil, err
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// Cleaner reads a Cleaner. The error about one that does not exist names the nearest ones.
func (c *Client) Cleaner(ctx context.Context, name string) (*v1alpha1.Cleaner, error) {
	if kind, rest, ok := strings.Cut(name, "/"); ok { // as kubectl prints it
		if kind, group, _ := strings.Cut(kind, "."); (kind == "cleaner" || kind == "cleaners") &&
			(group == "" || group == v1alpha1.GroupVersion.Group) {
			name = rest
		}
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, terminal.Fail(
			codes.CleanerNotFound,
			fmt.Errorf("%q cannot be the name of a Cleaner", name),
			"list them with: kubectl get cleaners; for a file: "+terminal.Program+" preview -f FILE",
		)
	}
	var cleaner v1alpha1.Cleaner
	err := c.Read(ctx, CleanerPath(name), &cleaner)
	switch {
	case err == nil:
		return &cleaner, nil
	case apierrors.IsNotFound(err):
		return nil, c.NoCleaner(ctx, name)
	}
	return nil, RequestError(fmt.Sprintf("reading cleaner %q", name), err)
}

// NoCleaner says what there is instead.
func (c *Client) NoCleaner(ctx context.Context, name string) error {
	names, err := c.cleaners(ctx)
	missing := fmt.Errorf("there is no cleaner %q in the cluster", name)
	near := suggest.Nearest(name, names)
	switch {
	case apierrors.IsNotFound(err):
		return terminal.Fail(
			codes.CleanerNotFound,
			fmt.Errorf("the cluster does not know Cleaners: its CustomResourceDefinitions are not installed"),
			"install KubeCleaner, or preview a file: kubectl cleaner preview -f FILE",
		)
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
func (c *Client) cleaners(ctx context.Context) ([]string, error) {
	var names []string
	err := List[v1alpha1.CleanerList](
		ctx,
		c,
		CleanerPath(""),
		func(cleaner *v1alpha1.Cleaner) { names = append(names, cleaner.Name) },
	)
	return names, err
}

// CompleteCleaners completes the names of Cleaners.
func CompleteCleaners(s *terminal.Session, c *Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		api, err := Connect(s, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, _ := api.cleaners(cmd.Context()) // none, when it fails
		return slices.DeleteFunc(
			names,
			func(name string) bool { return slices.Contains(given, name) },
		), cobra.ShellCompDirectiveNoFileComp
	}
}

// Rewatch is how long to wait before something is read again whose watch ended, or cannot be watched.
const Rewatch = time.Second

// WhoAmI is the name by which the cluster knows the user. It is empty when the cluster does not say.
func (c *Client) WhoAmI(ctx context.Context) string {
	const asked = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	body, err := Send(ctx, c.Raw.Post().AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").Body([]byte(asked)))
	var review authenticationv1.SelfSubjectReview
	if err != nil || json.Unmarshal(body, &review) != nil {
		return ""
	}
	return review.Status.UserInfo.Username
}
