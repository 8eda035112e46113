// Package testenv starts a real control plane for tests and for the demo: etcd and kube-apiserver, and
// kube-controller-manager when garbage collection or service accounts matter. TLS and RBAC are on, everything listens
// on loopback, and nothing outlives the process that started it, not even when that process is killed.
//
// A test package starts one for all its tests:
//
//	var env *testenv.Env
//
//	func TestMain(m *testing.M) { os.Exit(testenv.Main(m, &env, testenv.Options{})) }
//
// The binaries come from KUBEBUILDER_ASSETS if it has them all, else from what `make controlplane` built.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startTimeout is per process, and generous: a busy machine takes half a minute to start an API server.
const startTimeout = time.Minute

// Options says what to start.
type Options struct {
	// ControllerManager also starts kube-controller-manager with all its default controllers.
	ControllerManager bool
	// CRDs are directories or files to install; nil means config/crd/bases of this repository.
	CRDs []string
	// CompactionInterval is how often the API server forgets what was before; zero is its default, 5 minutes.
	CompactionInterval time.Duration
}

// Env is a running control plane.
type Env struct {
	// Config is the administrator's, without a client-side rate limit.
	Config *rest.Config
	// Kubeconfig is the path of a file that says the same.
	Kubeconfig string
	// Assets is the directory of the binaries, kubectl among them.
	Assets string
	// Dir holds everything this control plane writes, one log per process included. Stop removes it.
	Dir string

	plane  envtest.Environment
	reaper *reaper
}

// Start starts a control plane and returns when it serves the CRDs. The context bounds the start only; call Stop.
func Start(ctx context.Context, opts Options) (*Env, error) {
	assets, err := findAssets(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubecleaner-testenv-")
	if err != nil {
		return nil, fmt.Errorf("making the control plane's directory: %w", err)
	}
	e := &Env{Assets: assets, Dir: dir}
	if e.reaper, err = startReaper(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := e.start(ctx, opts); err != nil {
		err = fmt.Errorf("%w\n%s", err, logTails(dir))
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// Stop ends every process and removes every file of the control plane.
func (e *Env) Stop() error {
	// A kill, not envtest's Stop: they hold nothing that is worth a graceful end, which takes seconds.
	return e.reaper.reap()
}

// AddUser makes a user whom the API server knows by a client certificate; it has no rights but those of its groups.
func (e *Env) AddUser(name string, groups ...string) (*envtest.AuthenticatedUser, error) {
	return e.plane.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{QPS: -1})
}

func (e *Env) start(ctx context.Context, opts Options) error {
	if err := e.configure(opts); err != nil {
		return err
	}
	if _, err := e.plane.Start(); err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	admin, err := e.AddUser("admin", "system:masters")
	if err != nil {
		return fmt.Errorf("adding the administrator: %w", err)
	}
	e.Config = admin.Config()
	e.Kubeconfig = filepath.Join(e.Dir, "kubeconfig")
	kubeconfig, err := admin.KubeConfig()
	if err = errors.Join(err, os.WriteFile(e.Kubeconfig, kubeconfig, 0o600)); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if opts.ControllerManager {
		return e.startControllerManager(ctx)
	}
	return nil
}

func (e *Env) configure(opts Options) error {
	crds := opts.CRDs
	if crds == nil {
		root, err := repositoryRoot()
		if err != nil {
			return err
		}
		crds = []string{filepath.Join(root, "config", "crd", "bases")}
	}
	etcd, errEtcd := wrap(e.Dir, e.Assets, "etcd")
	apiserver, errServer := wrap(e.Dir, e.Assets, "kube-apiserver")
	e.plane = envtest.Environment{
		CRDDirectoryPaths:        crds,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
	}
	e.plane.CRDInstallOptions.MaxTime = startTimeout
	e.plane.ControlPlane.Etcd = &envtest.Etcd{Path: etcd, DataDir: filepath.Join(e.Dir, "etcd")}
	e.plane.ControlPlane.Etcd.Configure().Set("unsafe-no-fsync", "true")
	server := e.plane.ControlPlane.GetAPIServer()
	server.Path, server.CertDir = apiserver, filepath.Join(e.Dir, "pki")
	server.Configure().
		Set("enable-priority-and-fairness", "false"). // tests are one client: nothing to be fair about, and start is faster
		Set("delete-collection-workers", "4")
	if opts.CompactionInterval > 0 {
		server.Configure().Set("etcd-compaction-interval", opts.CompactionInterval.String())
	}
	return errors.Join(
		errEtcd,
		errServer,
		os.Mkdir(e.plane.ControlPlane.Etcd.DataDir, 0o700),
		os.Mkdir(server.CertDir, 0o700),
	)
}

// startControllerManager comes after the CRDs on purpose: the garbage collector looks for new kinds only every 30
// seconds.
func (e *Env) startControllerManager(ctx context.Context) error {
	pki := e.plane.ControlPlane.APIServer.CertDir
	ca := filepath.Join(pki, "serving-ca.crt")
	path, err := wrap(e.Dir, e.Assets, "kube-controller-manager")
	if err = errors.Join(err, os.WriteFile(ca, e.plane.ControlPlane.APIServer.CA, 0o600)); err != nil {
		return err
	}
	err = spawn(path,
		"--kubeconfig="+e.Kubeconfig,
		"--service-account-private-key-file="+filepath.Join(pki, "sa-signer.key"),
		"--root-ca-file="+ca,
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	)
	if err != nil {
		return err
	}
	return e.waitForServiceAccount(ctx)
}

// waitForServiceAccount waits for the first thing that only a working controller-manager makes.
func (e *Env) waitForServiceAccount(ctx context.Context) error {
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(
		ctx,
		50*time.Millisecond,
		startTimeout,
		true,
		func(ctx context.Context) (bool, error) {
			return c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "default"}, &corev1.ServiceAccount{}) == nil, nil
		},
	)
	if err != nil {
		return fmt.Errorf("waiting for kube-controller-manager: %w", err)
	}
	return nil
}

// Main starts a control plane, puts it into env, runs the tests and stops it. It returns the exit code.
func Main(m *testing.M, env **Env, opts Options) int {
	started, err := Start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*env = started
	code := m.Run()
	if err := started.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
