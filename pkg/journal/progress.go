// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Holder says whether a run is still this operator's to carry out.
type Holder struct {
	Name       string
	UID        types.UID
	Recoveries int32
}

// HolderOf is the one that carries out the run as it is now.
func HolderOf(run *v1alpha1.CleanerRun) Holder {
	return Holder{Name: run.Name, UID: run.UID, Recoveries: run.Status.Recoveries}
}

// ShowProgress writes how far a run has come, and nothing else, into its record: the run goes on meanwhile and keeps
// the record that it has. The record is left as it is, with ErrTaken, when the run has ended or is another operator's;
// and with a conflict when anything changed in it since it was read here, as by the run itself, which never has to wait
// for this.
func (j *Journal) ShowProgress(ctx context.Context, holder Holder, progress v1alpha1.RunProgress) error {
	doing := "writing the progress of CleanerRun " + holder.Name
	live, err := j.read(ctx, holder.Name)
	if err != nil {
		return wrap(doing, err)
	}
	if HolderOf(live) != holder || live.Status.Phase.Final() {
		return wrap(doing, ErrTaken)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.UID, "resourceVersion": live.ResourceVersion},
		// Whole: what is absent now does not stay.
		"status": map[string]any{"progress": whole(progress)},
	})
	if err != nil {
		return err
	}
	target := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: holder.Name}}
	return wrap(doing, j.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch)))
}

// whole is the progress with a null for each absent field, which takes the stored one away.
func whole(p v1alpha1.RunProgress) map[string]any {
	fields := map[string]any{
		"phase":      p.Phase,
		"kind":       nil,
		"done":       p.Done,
		"total":      p.Total,
		"matched":    p.Matched,
		"rate":       p.Rate,
		"updateTime": p.UpdateTime,
	}
	if p.Kind != "" {
		fields["kind"] = p.Kind
	}
	return fields
}
