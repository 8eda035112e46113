package testenv

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var env *Env

func TestMain(m *testing.M) { os.Exit(Main(m, &env, Options{ControllerManager: true})) }

// TestNothingOutlivesStop uses a control plane of its own.
func TestNothingOutlivesStop(t *testing.T) {
	own, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(own.Dir + "/kube-apiserver.pid")
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", own.Dir)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process stays in the table until its parent has waited for it.
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return errors.Is(syscall.Kill(number, 0), syscall.ESRCH), nil
	})
	if err != nil {
		t.Errorf("kube-apiserver (pid %d) is still there", number)
	}
}

func newClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}}
}

func TestOwnedObjectIsCollected(t *testing.T) {
	c, owner := newClient(t, env.Config), configMap("owner")
	if err := c.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	owned := configMap("owned", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID})
	if err := c.Create(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(owned), owned)), nil
	})
	if err != nil {
		t.Fatalf("the owned ConfigMap is still there: %v", err)
	}
}

func TestUserWithoutRightsIsForbidden(t *testing.T) {
	user, err := env.AddUser("nobody-in-particular", "some-group")
	if err != nil {
		t.Fatal(err)
	}
	err = newClient(t, user.Config()).List(t.Context(), &corev1.SecretList{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "nobody-in-particular" cannot list resource "secrets"`) {
		t.Errorf("listing Secrets: got %v, want a 403 that names the user", err)
	}
}

func TestMissingBinariesTellTheWayOut(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("KUBECLEANER_CACHE", t.TempDir())
	_, err := Start(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "run `make test`") {
		t.Errorf("got %v, want an error that names make test", err)
	}
}
