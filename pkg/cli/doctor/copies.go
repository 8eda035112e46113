// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

const (
	// defaultMaxCopies is the default of --max-copies-bytes.
	defaultMaxCopies = "256Mi"
	// fullAt is from how much of it on, in percent, the copies are nearly too many.
	fullAt = 80
)

// copies looks whether the store of copies that each Cleaner asks for is there, and how full it is.
func (p *patient) copies(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	asked := map[v1alpha1.CopyStorage][]string{}
	for i := range p.cleaners {
		if c := &p.cleaners[i]; c.EffectiveAction() != v1alpha1.ActionScan {
			asked[c.CopyStorage()] = append(asked[c.CopyStorage()], c.Name)
		}
	}
	if names := asked[v1alpha1.StorageS3]; len(names) > 0 {
		lines = append(lines, p.bucket(ctx, names)...)
	}
	if names := asked[v1alpha1.StorageVolume]; len(names) > 0 {
		lines = append(lines, p.volume(ctx, names)...)
	}
	if len(asked) > 0 {
		lines = append(lines, p.quotas(ctx)...)
	}
	for _, name := range asked[v1alpha1.StorageNone] {
		lines = append(lines, Line{
			Status:  Warn,
			Object:  ref("Cleaner", name),
			Message: "it keeps no copies (rollback.storage None): what it deletes or changes cannot be restored",
			WayOut:  "remove rollback.storage, if that is not meant",
		})
	}
	full, size := p.fullness(ctx)
	return append(lines, full...), "copies take " + size
}

func (p *patient) noStore(names []string, message, wayOut string) Line {
	return Line{
		Status:  Fail,
		Object:  ref("Cleaner", names[0]),
		Message: message + more(names) + ": it cannot run",
		WayOut:  wayOut,
	}
}

// more says how many other Cleaners the same is true of.
func more(names []string) string {
	if len(names) == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(names)-1)
}

// bucket looks at the Secret that says where the S3 bucket is.
func (p *patient) bucket(ctx context.Context, names []string) []Line {
	if p.deployment == nil {
		return p.noAccount()
	}
	secret, given := p.flag("s3-secret")
	if !given || secret == "" {
		return []Line{
			p.noStore(
				names,
				"it keeps its copies in S3, and the operator has no --s3-secret",
				"set --s3-secret, or another rollback.storage",
			),
		}
	}
	return p.secretExists(ctx, refTo(p.deployment), "--s3-secret", p.namespace, secret)
}

// volume looks at the volume on which copies are.
func (p *patient) volume(ctx context.Context, names []string) []Line {
	if p.deployment == nil {
		return p.noAccount()
	}
	path, given := p.flag("copies-path")
	if !given || path == "" {
		return []Line{
			p.noStore(
				names,
				"it keeps its copies on a volume, and the operator has no --copies-path",
				"set --copies-path, or another rollback.storage",
			),
		}
	}
	d := p.deployment
	object, volume := refTo(d), volumeAt(&d.Spec.Template.Spec, path)
	if volume == nil {
		return []Line{
			{
				Status:  Fail,
				Object:  object,
				Message: "no volume is mounted at --copies-path " + path + ": copies are lost with the Pod, or cannot be written",
				WayOut:  "mount a volume there",
			},
		}
	}
	if claim := volume.PersistentVolumeClaim; claim != nil {
		return p.claim(ctx, d.Namespace, claim.ClaimName)
	}
	if volume.EmptyDir != nil {
		return []Line{
			{
				Status:  Warn,
				Object:  object,
				Message: "copies are on an emptyDir: they are lost with the Pod",
				WayOut:  "use a PersistentVolumeClaim",
			},
		}
	}
	return nil
}

// volumeAt is the volume that is mounted at the path or above it. Nil when there is none.
func volumeAt(spec *corev1.PodSpec, path string) *corev1.Volume {
	name := ""
	for _, c := range spec.Containers {
		for _, mount := range c.VolumeMounts {
			if mount.MountPath == path || strings.HasPrefix(path, strings.TrimSuffix(mount.MountPath, "/")+"/") {
				name = mount.Name
			}
		}
	}
	i := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if name == "" || i < 0 {
		return nil
	}
	return &spec.Volumes[i]
}

func (p *patient) claim(ctx context.Context, namespace, name string) []Line {
	object := ref("PersistentVolumeClaim", namespace, name)
	var claim corev1.PersistentVolumeClaim
	err := p.api.Read(ctx, "/api/v1/namespaces/"+namespace+"/persistentvolumeclaims/"+name, &claim)
	switch {
	case apierrors.IsNotFound(err):
		return []Line{
			{
				Status:  Fail,
				Object:  object,
				Message: "the volume of the copies does not exist",
				WayOut:  "create the PersistentVolumeClaim",
			},
		}
	case err != nil:
		return []Line{unread(object, "could not read whether the volume of the copies exists", err)}
	case claim.Status.Phase != corev1.ClaimBound:
		return []Line{
			{
				Status:  Fail,
				Object:  object,
				Message: fmt.Sprintf("the volume of the copies is %s", claim.Status.Phase),
				WayOut:  "kubectl -n " + namespace + " describe pvc " + name,
			},
		}
	}
	return nil
}

// fullness is how much all copies take, and of how much.
func (p *patient) fullness(ctx context.Context) (lines []Line, size string) {
	var taken int64
	err := cluster.List[v1alpha1.CleanerRunList](ctx, p.api, cluster.RunPath(""), func(run *v1alpha1.CleanerRun) {
		if kept := run.Status.Copies; kept != nil && kept.Dropped == "" {
			taken += kept.Bytes
		}
	})
	if err != nil {
		return []Line{unread("", "could not read the size of the copies", err)}, ""
	}
	limit := resource.MustParse(defaultMaxCopies)
	if value, given := p.flag("max-copies-bytes"); given {
		if limit, err = resource.ParseQuantity(value); err != nil {
			return []Line{
				{Status: Fail, Message: fmt.Sprintf("--max-copies-bytes %q cannot be read", value), WayOut: "write it as 256Mi"},
			}, ""
		}
	}
	size = fmt.Sprintf("%s of %s (--max-copies-bytes)", inBytes(taken), inBytes(limit.Value()))
	if limit.Value() > 0 && taken >= limit.Value()/100*fullAt {
		lines = append(lines, Line{
			Status:  Warn,
			Message: "copies take " + size + ": the oldest are dropped when there is no room",
			WayOut:  "raise --max-copies-bytes, or set a shorter rollback.retentionSeconds",
		})
	}
	return lines, size
}

// inBytes is an amount of bytes as --max-copies-bytes takes it, with one digit after the point.
func inBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"Ki", "Mi", "Gi"} {
		if value /= 1024; value < 1024 {
			break
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + unit
}
