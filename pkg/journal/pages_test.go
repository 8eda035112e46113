// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// paging is a client that answers lists in pages of what is asked for.
type paging struct {
	client.Client
	t       *testing.T
	objects int
	lists   int
	limit   int64
}

func (p *paging) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	opts := (&client.ListOptions{}).ApplyOptions(options)
	if p.limit, p.lists = opts.Limit, p.lists+1; opts.Limit == 0 {
		p.t.Fatal("a list has no limit")
	}
	from, next := 0, ""
	if opts.Continue != "" {
		var err error
		if from, err = strconv.Atoi(opts.Continue); err != nil {
			return err
		}
	}
	to := min(from+int(opts.Limit), p.objects)
	if to < p.objects {
		next = strconv.Itoa(to)
	}
	list.SetContinue(next)
	for i := from; i < to; i++ {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("o-%d", i)}
		switch l := list.(type) {
		case *metav1.PartialObjectMetadataList:
			l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: meta})
		case *v1alpha1.CleanerRunList:
			l.Items = append(l.Items, v1alpha1.CleanerRun{ObjectMeta: meta})
		default:
			p.t.Fatalf("%T was listed", list)
		}
	}
	return nil
}

// TestListsComeInPages: each object once, however many there are, and Secrets only by their metadata.
func TestListsComeInPages(t *testing.T) {
	t.Parallel()
	reads := map[string]struct {
		limit int64
		read  func(j *Journal, each func(name string)) error
	}{
		"names": {namesPerPage, func(j *Journal, each func(string)) error {
			return j.eachName(t.Context(), corev1.SchemeGroupVersion.WithKind("SecretList"), func(o *metav1.PartialObjectMetadata) { each(o.Name) })
		}},
		"runs": {runsPerPage, func(j *Journal, each func(string)) error {
			return j.eachRun(t.Context(), func(run *v1alpha1.CleanerRun) { each(run.Name) })
		}},
	}
	for name, c := range reads {
		for _, objects := range []int{0, 1, int(c.limit), int(c.limit) + 1, 3*int(c.limit) - 1} {
			client := &paging{t: t, objects: objects}
			seen := map[string]int{}
			if err := c.read(&Journal{client: client}, func(name string) { seen[name]++ }); err != nil {
				t.Fatal(err)
			}
			for i := range objects {
				if object := fmt.Sprintf("o-%d", i); seen[object] != 1 {
					t.Fatalf("%s: of %d objects, %s was seen %d times", name, objects, object, seen[object])
				}
			}
			if pages := max(1, (objects+int(c.limit)-1)/int(c.limit)); len(seen) != objects || client.lists != pages || client.limit != c.limit {
				t.Errorf("%s: %d of %d objects in %d lists of %d, want %d lists", name, len(seen), objects, client.lists, client.limit, pages)
			}
		}
	}
}
