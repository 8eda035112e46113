// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func nominal(run *v1alpha1.CleanerRun) string { return fmt.Sprint(run.Spec.NominalTime.Unix()) }

func keys[V any](m map[string]V) []string { return append([]string{}, slices.Sorted(maps.Keys(m))...) }

// noise is text that cannot be compressed to less than three quarters.
func noise(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return string(text)
}

// threeParts are ConfigMaps whose copies are in three parts or more.
func (b *bench) threeParts() {
	for i := range 3 {
		b.configMap(fmt.Sprintf("old-%d", i), func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"noise": noise(500_000)} })
	}
}

// wantNothing fails the test unless nothing was touched and nothing of the copies is left.
func (s *shelf) wantNothing(run *v1alpha1.CleanerRun) {
	s.b.t.Helper()
	for i := range 3 {
		if !s.b.exists(fmt.Sprintf("old-%d", i)) {
			s.b.t.Fatalf("old-%d was deleted", i)
		}
	}
	stored := s.b.stored(run)
	if stored.Status.Phase != v1alpha1.RunFailed || stored.Status.Copies != nil || stored.Status.Intent != nil || stored.Status.Acted != 0 {
		s.b.t.Fatalf("the record says %+v", stored.Status)
	}
	if files, objects, parts := s.files(), s.bucket.Objects(s.b.t), s.parts(run); len(files)+len(objects)+len(parts) > 0 {
		s.b.t.Fatalf("left are the files %q, the objects %q and the parts %v", keys(files), keys(objects), parts)
	}
}

// F24: 403 and a full quota, at each part.
func TestCopiesThatSecretsDoNotTake(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, status := range map[string]*apierrors.StatusError{
		"forbidden": apierrors.NewForbidden(secrets, "x", fmt.Errorf(`User "operator" cannot create resource "secrets"`)),
		"quota":     apierrors.NewForbidden(secrets, "x", fmt.Errorf("exceeded quota: small, requested: secrets=1")),
		"down":      apierrors.NewServiceUnavailable("etcdserver: no leader"),
	} {
		for part := 1; part <= 3; part++ {
			t.Run(fmt.Sprintf("%s at part %d", name, part), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				s := b.places()
				b.threeParts()
				n := 0
				b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
						if n++; n >= part {
							return refusal(t, r, status), nil
						}
					}
					return nil, nil
				})
				reason := v1alpha1.ReasonForbidden
				if name == "down" {
					reason = v1alpha1.ReasonFailed
				}
				run := b.run(b.cleaner(v1alpha1.ActionDelete))
				wantRun(t, run, reason, "Nothing was touched: writing down what the run intends: writing Secret projectsveltos/"+run.Name,
					status.ErrStatus.Message, "copies are kept in Secrets of the namespace projectsveltos, where the operator needs the right and the quota to create them; to keep copies in another place, set spec.rollback.storage")
				s.wantNothing(run)
			})
		}
	}
}

// F24: an S3 server that is down, has no such bucket, or refuses, at each part.
func TestCopiesThatS3DoesNotTake(t *testing.T) {
	t.Parallel()
	const wayOut = "copies are kept in the S3 bucket that Secret projectsveltos/%s names (--s3-secret)"
	for name, c := range map[string]struct {
		spoil func(b *bench, s *shelf)
		want  string
	}{
		"at part 1": {failingAt(1), "the disk is full"}, "at part 2": {failingAt(2), "the disk is full"}, "at part 3": {failingAt(3), "the disk is full"},
		"down":      {func(_ *bench, s *shelf) { s.server.Close() }, "writing s3://copies/here/"},
		"no bucket": {func(_ *bench, s *shelf) { s.bucket.Delete(s.b.t) }, "bucket does not exist"},
		"no Secret": {func(b *bench, s *shelf) { must(b.t, b.user.Delete(b.t.Context(), s.secret)) }, "which says where the S3 bucket is"},
		"no key": {func(b *bench, s *shelf) {
			delete(s.secret.Data, "secretKey")
			s.secret.StringData = nil
			must(b.t, b.user.Update(b.t.Context(), s.secret))
		}, "the key secretKey is missing or empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			b.threeParts()
			c.spoil(b, s)
			run := b.run(b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageS3)))
			wantRun(t, run, v1alpha1.ReasonFailed, "Nothing was touched: writing down what the run intends: ", c.want, fmt.Sprintf(wayOut, s.secret.Name))
			if strings.Contains(run.Status.Message, "the-secret-key") || strings.Contains(run.Status.Message, "the-access-key") {
				t.Fatalf("the message holds credentials: %s", run.Status.Message)
			}
			if name == "no bucket" {
				s.bucket.Create(t) // to look into it
			}
			s.wantNothing(run)
		})
	}
}

// failingAt lets the S3 server refuse the n-th part and all that follow.
func failingAt(n int64) func(*bench, *shelf) {
	return func(_ *bench, s *shelf) {
		var puts atomic.Int64
		s.refuse = func(r *http.Request) string {
			if r.Method == http.MethodPut && puts.Add(1) >= n {
				return "the disk is full"
			}
			return ""
		}
	}
}

// F24: a directory that is missing, that leads out, or that is no directory.
func TestCopiesThatAVolumeDoesNotTake(t *testing.T) {
	t.Parallel()
	const wayOut = "(--copies-path), which must be there, writable and have room"
	for name, c := range map[string]struct {
		spoil func(t *testing.T, s *shelf, c *v1alpha1.Cleaner)
		want  string
	}{
		"missing": {func(_ *testing.T, s *shelf, _ *v1alpha1.Cleaner) {
			s.b.runner.Record.Journal.Places.CopiesPath += "/none"
		}, "no such file or directory"},
		"leads out": {func(t *testing.T, s *shelf, c *v1alpha1.Cleaner) {
			must(t, os.Symlink(t.TempDir(), filepath.Join(s.root, c.Name)))
		}, "path escapes from parent"},
		"a file in the way": {func(t *testing.T, s *shelf, c *v1alpha1.Cleaner) {
			must(t, os.WriteFile(filepath.Join(s.root, c.Name), nil, 0o600))
		}, "not a directory"},
	} {
		for field, edits := range map[string]func(*v1alpha1.Cleaner){"storage": copying(v1alpha1.StorageVolume), "storeResourcePath": copying(v1alpha1.StorageNone)} {
			t.Run(name+" "+field, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				s := b.places()
				b.threeParts()
				cleaner := b.cleaner(v1alpha1.ActionDelete, edits)
				c.spoil(t, s, cleaner)
				if field == "storeResourcePath" {
					edit(b, b.get(cleaner.Name), func(c *v1alpha1.Cleaner) { c.Spec.StoreResourcePath = b.runner.Record.Journal.Places.CopiesPath })
				}
				run := b.run(cleaner)
				wantRun(t, run, v1alpha1.ReasonFailed, "Nothing was touched: writing down what the run intends: copying ConfigMap "+b.namespace+"/old-0: ", c.want, wayOut)
				for i := range 3 {
					if !b.exists(fmt.Sprintf("old-%d", i)) {
						t.Fatalf("old-%d was deleted", i)
					}
				}
			})
		}
	}
}

// A run whose copies would take more than rollback.maxBytes touches nothing, wherever they are kept.
func TestCopiesBeyondTheirLimit(t *testing.T) {
	t.Parallel()
	for _, storage := range storages {
		t.Run(string(storage), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			b.threeParts()
			c := b.cleaner(v1alpha1.ActionDelete, copying(storage), func(c *v1alpha1.Cleaner) { c.Spec.Rollback.MaxBytes = ptr.To[int64](900_000) })
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonFailed, "Nothing was touched: writing down what the run intends: the copies of the 3 objects take more than 900000 bytes, compressed: raise rollback.maxBytes (it cannot be more than the operator's --max-copies-bytes), let the Cleaner select fewer objects, or set rollback.storage to None if you do not need to restore them")
			s.wantNothing(run)
		})
	}
}

// The Report is written before anything is touched: when the API server does not take it, nothing is.
func TestReportThatIsNotTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.places()
	b.threeParts()
	c := b.cleaner(v1alpha1.ActionDelete, copying(v1alpha1.StorageReport))
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/reports/"+c.Name) {
			return refusal(t, r, apierrors.NewForbidden(schema.GroupResource{Resource: "reports"}, c.Name, fmt.Errorf("not today"))), nil
		}
		return nil, nil
	})
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonForbidden, "Nothing was touched: writing down what the run intends: writing Report "+c.Name, "not today")
	s.wantNothing(run)
}

// F25: what is large is copied in parts, none of which exceeds 512 KiB, and read back exactly.
func TestLargeCopies(t *testing.T) {
	t.Parallel()
	for _, storage := range storages {
		t.Run(string(storage), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			count := 200
			if storage == v1alpha1.StorageSecret {
				count = 400
			}
			want := map[string]string{"large": noise(1_000_000)}
			for i := range count {
				want[fmt.Sprintf("old-%d", i)] = strings.Repeat(fmt.Sprintf("line %d of the settings\n", i), 40<<10/24)
			}
			names := keys(want)
			b.together(len(names), func(i int) client.Object {
				cm := &corev1.ConfigMap{Data: map[string]string{"text": want[names[i]]}}
				cm.Namespace, cm.Name, cm.Labels = b.namespace, names[i], map[string]string{"test": "x"}
				return cm
			})
			run := b.run(b.cleaner(v1alpha1.ActionDelete, copying(storage), func(c *v1alpha1.Cleaner) { c.Spec.Rollback.MaxBytes = ptr.To[int64](200 << 20) }))
			wantRun(t, run, v1alpha1.ReasonCompleted, fmt.Sprintf("%d deleted", len(want)))
			got := map[string]string{}
			for name, c := range s.read(run) {
				var cm corev1.ConfigMap
				must(t, json.Unmarshal(c.Object, &cm))
				got[name] = cm.Data["text"]
			}
			if !maps.Equal(want, got) {
				t.Fatalf("read back are %d objects that differ from the %d: %s", len(got), len(want), cmp.Diff(names, keys(got)))
			}
			s.wantSmall(run)
		})
	}
}

// wantSmall fails the test when something that the run wrote exceeds 512 KiB as the API server returns it.
func (s *shelf) wantSmall(run *v1alpha1.CleanerRun) {
	s.b.t.Helper()
	paths := []string{"/apis/apps.projectsveltos.io/v1alpha1/cleanerruns/" + run.Name}
	if run.Status.Copies.Storage == v1alpha1.StorageReport {
		paths = append(paths, "/apis/apps.projectsveltos.io/v1alpha1/reports/"+run.Spec.Cleaner)
	}
	for stream, count := range s.parts(run) {
		for n := range count {
			paths = append(paths, fmt.Sprintf("/api/v1/namespaces/%s/secrets/%s-%s-%s-%d", operatorNamespace, run.Name, run.Status.Intent.Attempt, stream, n))
		}
	}
	for _, path := range paths {
		if size := len(rawGet(s.b.t, path)); size > 512<<10 {
			s.b.t.Errorf("%s has %d bytes", path, size)
		}
	}
	for key, data := range s.bucket.Objects(s.b.t) {
		if len(data) > 512<<10 {
			s.b.t.Errorf("the object %s has %d bytes", key, len(data))
		}
	}
}
