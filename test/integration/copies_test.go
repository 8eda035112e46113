// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

// canary is a Secret's value that must not be found outside of Secrets.
const canary = "canary-7d1f0c93"

// copying lets a Cleaner keep its copies there.
func copying(storage v1alpha1.CopyStorage) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		c.Spec.Rollback = &v1alpha1.Rollback{Storage: storage}
		if storage == v1alpha1.StorageReport {
			notifying(v1alpha1.NotificationCleanerReport)(c)
		}
	}
}

// shelf is every place for copies.
type shelf struct {
	b      *bench
	root   string
	bucket *servers.Bucket
	// server is in front of the S3 server.
	server *httptest.Server
	secret *corev1.Secret
	// refuse, if any, says why the S3 server refuses a request, or nothing.
	refuse func(*http.Request) string
}

// places gives the operator a directory and a bucket.
func (b *bench) places() *shelf {
	b.t.Helper()
	s := &shelf{b: b, root: b.t.TempDir(), bucket: servers.StartS3(b.t, "copies")}
	address, err := url.Parse(s.bucket.URL)
	must(b.t, err)
	proxy := httputil.NewSingleHostReverseProxy(address)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refuse != nil {
			if why := s.refuse(r); why != "" {
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>" + why + "</Message></Error>"))
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	b.t.Cleanup(s.server.Close)
	s.secret = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "s3-" + b.namespace},
		StringData: map[string]string{
			"endpoint": strings.TrimPrefix(s.server.URL, "http://"), "bucket": "copies", "prefix": "here",
			"accessKey": "the-access-key", "secretKey": "the-secret-key", "insecure": "true",
		},
	}
	must(b.t, b.user.Create(b.t.Context(), s.secret))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), s.secret) })
	b.runner.Record.Journal.Places = journal.Places{CopiesPath: s.root, S3Secret: s.secret.Name}
	return s
}

// files are the files below the directory, by path.
func (s *shelf) files() map[string]string {
	s.b.t.Helper()
	found := map[string]string{}
	must(s.b.t, filepath.WalkDir(s.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(s.root, path)
		found[name] = string(data)
		return err
	}))
	return found
}

// read are the copies of a run as restore reads them, by the name of the object; the last of each.
func (s *shelf) read(run *v1alpha1.CleanerRun) map[string]journal.Copy {
	s.b.t.Helper()
	parts := journal.NewParts(s.b.user)
	parts.CopiesPath = s.root
	found := map[string]journal.Copy{}
	must(s.b.t, journal.ReadCopies(s.b.t.Context(), parts, s.b.stored(run), func(c journal.Copy) error {
		found[c.Name] = c
		return c.Problem
	}))
	return found
}

// parts are the Secrets that hold parts of what a run wrote down, by stream.
func (s *shelf) parts(run *v1alpha1.CleanerRun) map[string]int {
	s.b.t.Helper()
	var secrets corev1.SecretList
	must(s.b.t, s.b.user.List(s.b.t.Context(), &secrets, client.InNamespace(operatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: string(run.UID)}))
	found := map[string]int{}
	for _, secret := range secrets.Items {
		found[secret.Labels[v1alpha1.PartLabel]]++
	}
	return found
}

// secretToo makes a Cleaner select the ConfigMaps and Secrets of the test's namespace with the label "test".
func (b *bench) secretToo(c *v1alpha1.Cleaner) {
	secrets := kind("", "v1", "Secret", b.namespace)
	secrets.LabelFilters = has("test")
	c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, secrets)
}

func (b *bench) secret(name string) *corev1.Secret {
	b.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"test": "x"}},
		StringData: map[string]string{"password": canary},
	}
	must(b.t, b.user.Create(b.t.Context(), secret))
	return secret
}

// wantNoCanary fails the test when a Secret's value stands somewhere where Secrets do not belong.
func (s *shelf) wantNoCanary() {
	s.b.t.Helper()
	places := map[string]string{}
	for _, path := range []string{"/reports", "/cleanerruns", "/cleaners"} {
		places[path] = string(rawGet(s.b.t, "/apis/apps.projectsveltos.io/v1alpha1"+path))
	}
	for name, data := range s.files() {
		places["file "+name] = data
	}
	for key, data := range s.bucket.Objects(s.b.t) {
		places["S3 "+key] = unzipped(s.b.t, data)
	}
	for place, text := range places {
		once := base64.StdEncoding.EncodeToString([]byte(canary))
		for _, form := range []string{canary, once[:len(once)-4]} {
			for shift := range 3 { // base64 of JSON that holds it, too
				inner := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + form))
				if strings.Contains(text, form) || strings.Contains(text, inner[4:len(inner)-4]) {
					s.b.t.Errorf("the Secret's value is in %s", place)
				}
			}
		}
	}
}

// unzipped is what is in a part, as far as it can be read by itself.
func unzipped(t *testing.T, data string) string {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(data))
	must(t, err)
	text, err := io.ReadAll(zip)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(text)
}

var storages = []v1alpha1.CopyStorage{v1alpha1.StorageSecret, v1alpha1.StorageReport, v1alpha1.StorageVolume, v1alpha1.StorageS3}

// Each storage keeps what was deleted where it says, Secrets in Secrets, gives it back exactly, and lets it go.
func TestEachStorageKeepsCopies(t *testing.T) {
	t.Parallel()
	for _, storage := range storages {
		t.Run(string(storage), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			old := b.configMap("old", stale)
			secret := b.secret("password")
			c := b.cleaner(v1alpha1.ActionDelete, copying(storage), b.secretToo)
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 2 deleted.")
			got := s.read(run)
			var cm corev1.ConfigMap
			must(t, json.Unmarshal(got["old"].Object, &cm))
			old.ManagedFields, cm.TypeMeta = nil, metav1.TypeMeta{}
			if diff := cmp.Diff(old, &cm); diff != "" || got["old"].ResourceVersion != old.ResourceVersion {
				t.Fatalf("the copy (-want +got):\n%s", diff)
			}
			var back corev1.Secret
			must(t, json.Unmarshal(got["password"].Object, &back))
			if string(back.Data["password"]) != canary || got["password"].UID != secret.UID {
				t.Fatalf("the copy of the Secret holds %q", back.Data["password"])
			}
			s.wantKept(c, run, storage)
			s.wantNoCanary()
			must(t, b.runner.Record.Journal.DropCopies(t.Context(), b.stored(run)))
			must(t, b.runner.Record.Journal.DropCopies(t.Context(), b.stored(run))) // again, when nothing is there
			if files, objects := s.files(), s.bucket.Objects(s.b.t); len(files) > 0 || len(objects) > 0 {
				t.Fatalf("left are the files %v and the objects %v", files, objects)
			}
			if diff := cmp.Diff(map[string]int{}, s.parts(run)); diff != "" {
				t.Fatalf("the Secrets that are left (-want +got):\n%s", diff)
			}
		})
	}
}

// wantKept looks at where the copies of one ConfigMap and one Secret are.
func (s *shelf) wantKept(c *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, storage v1alpha1.CopyStorage) {
	t := s.b.t
	t.Helper()
	kept := s.b.stored(run).Status.Copies
	if kept.Storage != storage || kept.Objects != 2 || kept.Parts != 1 || kept.Bytes < 100 || (kept.Secrets != nil) != (storage == v1alpha1.StorageS3) {
		t.Fatalf("the record says of the copies %+v", kept)
	}
	parts := map[string]int{"bundle": 1}
	files, objects := []string{}, []string{}
	switch storage {
	case v1alpha1.StorageVolume:
		files = append(files, filepath.Join(c.Name, s.b.namespace, "ConfigMap", "old_"+nominal(run)+".yaml"))
	case v1alpha1.StorageS3:
		objects = append(objects, "here/"+run.Name+"/"+run.Status.Intent.Attempt+"/copies-0")
	}
	if diff := cmp.Diff(files, keys(s.files())); diff != "" {
		t.Fatalf("the files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(objects, keys(s.bucket.Objects(s.b.t))); diff != "" {
		t.Fatalf("the objects in S3 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(parts, s.parts(run)); diff != "" {
		t.Fatalf("the Secrets (-want +got):\n%s", diff)
	}
}

// A Cleaner that wants copies where the operator has no place for them says so, and does nothing.
func TestStorageThatTheOperatorDoesNotHave(t *testing.T) {
	t.Parallel()
	const noReport = "rollback is enabled but no CleanerReport notification is configured: rollback data would never be persisted; " +
		"spec.rollback.storage is Report: add a notification of type CleanerReport, or set storage to Secret"
	for name, c := range map[string]struct {
		edit func(*v1alpha1.Cleaner)
		want string
	}{
		"Volume": {copying(v1alpha1.StorageVolume), "rollback.storage is Volume, and the operator has no directory for copies: mount a volume and start it with --copies-path, or set rollback.storage to Secret"},
		"S3":     {copying(v1alpha1.StorageS3), "rollback.storage is S3, and the operator has no bucket for copies: start it with --s3-secret, or set rollback.storage to Secret"},
		"Report": {func(c *v1alpha1.Cleaner) { c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageReport} }, noReport},
		"storeResourcePath": {
			func(c *v1alpha1.Cleaner) { c.Spec.StoreResourcePath = "/store" },
			"storeResourcePath: the operator has no directory for copies: mount a volume and start it with --copies-path, or remove storeResourcePath",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old", stale)
			cleaner := b.cleaner(v1alpha1.ActionDelete, c.edit)
			wantRun(t, b.run(cleaner), v1alpha1.ReasonFailed, "The Cleaner cannot run, nothing was touched: "+c.want)
			b.wantUntouched()
			reason, message, err := b.runner.Check.Validate(t.Context(), cleaner)
			if err != nil || reason != v1alpha1.ReasonInvalidStorage || message != c.want {
				t.Fatalf("Validate says %q %q %v", reason, message, err)
			}
			scan := b.run(b.cleaner(v1alpha1.ActionScan, c.edit)) // which makes no copies
			wantRun(t, scan, v1alpha1.ReasonCompleted)
		})
	}
}

// An object that changed while the run went on is copied again, wherever copies are: what was deleted is what is brought back.
func TestObjectThatChangedIsCopiedAgain(t *testing.T) {
	t.Parallel()
	for _, storage := range storages {
		t.Run(string(storage), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			b.configMap("old", stale)
			b.beforeFirst("DELETE", "/old", func() {
				edit(b, b.named("old"), func(cm *corev1.ConfigMap) { cm.Data["later"] = "yes" })
			})
			c := b.cleaner(v1alpha1.ActionDelete, copying(storage), func(c *v1alpha1.Cleaner) { c.Spec.StoreResourcePath = s.root + "/audit" })
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
			if got := s.read(run)["old"]; !strings.Contains(string(got.Object), `"later":"yes"`) {
				t.Fatalf("the last copy is %s", got.Object)
			}
			file := filepath.Join("audit", c.Name, b.namespace, "ConfigMap", "old_"+nominal(run))
			files := s.files()
			if strings.Contains(files[file+".yaml"], "later") || !strings.Contains(files[file+"-2.yaml"], "later: \"yes\"") {
				t.Fatalf("the files are %v", files)
			}
			must(t, b.runner.Record.Journal.DropCopies(t.Context(), b.stored(run)))
			if left := s.files(); len(left) != 2 || len(s.bucket.Objects(s.b.t)) > 0 {
				t.Fatalf("left are the files %v, want those of storeResourcePath", left)
			}
		})
	}
}

// storeResourcePath gets every object that was touched, but no Secrets, besides the copies; what k8s-cleaner left is not touched.
func TestStoreResourcePath(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*v1alpha1.Cleaner){
		"with copies": copying(v1alpha1.StorageSecret), "without": copying(v1alpha1.StorageNone), "on a volume too": copying(v1alpha1.StorageVolume),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			b.configMap("old", stale)
			b.secret("password")
			c := b.cleaner(v1alpha1.ActionTransform, edit, b.secretToo, transform(`function transform() obj.metadata.annotations = {x = "y"} return {resource = obj} end`),
				func(c *v1alpha1.Cleaner) { c.Spec.StoreResourcePath = s.root })
			dir := filepath.Join(c.Name, b.namespace, "ConfigMap")
			must(t, os.MkdirAll(filepath.Join(s.root, dir), 0o700))
			must(t, os.WriteFile(filepath.Join(s.root, dir, "old.yaml"), []byte("k8s-cleaner's"), 0o600))
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted, "2 changed")
			files := s.files()
			stored := files[filepath.Join(dir, "old_"+nominal(run)+".yaml")]
			if !strings.HasPrefix(stored, "apiVersion: v1\ndata:\n  stale: \"yes\"\nkind: ConfigMap\nmetadata:\n") || strings.Contains(stored, "resourceVersion") || strings.Contains(stored, "annotations") {
				t.Fatalf("the file is\n%s", stored)
			}
			if files[filepath.Join(dir, "old.yaml")] != "k8s-cleaner's" {
				t.Fatal("k8s-cleaner's file was touched")
			}
			s.wantNoCanary()
			if got, want := len(s.read(run)), 2; name != "without" && got != want {
				t.Fatalf("there are %d copies, want %d", got, want)
			}
		})
	}
}
