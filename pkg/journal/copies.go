// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// copies are the copies of one run, while they are made: one caller at a time.
type copies struct {
	journal *Journal
	run     *v1alpha1.CleanerRun
	attempt string
	storage v1alpha1.CopyStorage
	expires metav1.Time
	budget  *budget
	// objects are those that there are copies of. An object that changed meanwhile has several copies.
	objects map[types.UID]struct{}

	// main is the chain of the copies, and secrets that of copies of Secrets when main is in S3.
	main, secrets *chain
	// bucket is where main is, if it is in S3.
	bucket   *bucket
	s3Secret string
	// volume are the files of the storage Volume, whose hashes are in main; store are those of storeResourcePath.
	volume, store *files
	// fileBytes is how much the files of the volume take.
	fileBytes int64
}

// openCopies makes everything ready that the copies of a run need.
func (j *Journal) openCopies(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	bundle *bundle,
) (*copies, error) {
	attempt := bundle.attempt
	c := &copies{
		journal: j,
		run:     run,
		attempt: attempt,
		storage: cleaner.CopyStorage(),
		budget:  &budget{left: j.maxCopyBytes(cleaner)},
		expires: metav1.NewTime(j.clock.Now().Add(cleaner.CopyRetention())),
		objects: map[types.UID]struct{}{},
	}
	if err := errors.Join(j.CopyProblems(cleaner)...); err != nil {
		return c, err
	}
	c.main = bundle.chain(streamCopies, c.budget)
	switch c.storage {
	case v1alpha1.StorageVolume:
		c.volume = newFiles(j.Places.CopiesPath, ".", run)
	case v1alpha1.StorageS3:
		bucket, err := openBucket(ctx, j.client, j.namespace, j.Places.S3Secret)
		if err != nil {
			return c, c.wayOut(err)
		}
		c.bucket, c.s3Secret = bucket, j.Places.S3Secret
		c.secrets = bundle.chain(streamSecrets, c.budget)
		c.main.put = func(ctx context.Context, n int32, data []byte) error {
			return bucket.put(ctx, bucket.key(run, attempt, n), data)
		}
	}
	if wanted := cleaner.Spec.StoreResourcePath; wanted != "" {
		below, err := storePath(j.Places.CopiesPath, wanted)
		if err != nil {
			return c, err
		}
		c.store = newFiles(j.Places.CopiesPath, filepath.ToSlash(below), run)
	}
	return c, nil
}

// keeps reports whether there is a copy of the object that can be brought back.
func (c *copies) keeps(o object.Object) bool {
	return c.storage != v1alpha1.StorageNone && !isStateless(o)
}

// stores reports whether there is a file of the object below storeResourcePath.
func (c *copies) stores(o object.Object) bool { return c.store != nil && !o.IsSecret() }

// add copies a victim. That is durable when flush has returned.
func (c *copies) add(ctx context.Context, v Victim) error {
	file, err := c.fileOf(v.Object)
	if err != nil {
		return err
	}
	if err := c.toStore(v.Object, file); err != nil || !c.keeps(v.Object) {
		return err
	}
	chain, entry := c.main, copyOf(v)
	if v.IsSecret() && c.secrets != nil {
		chain = c.secrets
	}
	if c.inVolume(v.Object) {
		if err := c.toVolume(&entry, v.Object, file); err != nil {
			return err
		}
	}
	if err := chain.add(ctx, entry); err != nil {
		return c.wayOut(err)
	}
	c.objects[v.UID] = struct{}{}
	return nil
}

// inVolume reports whether the copy of an object is a file.
func (c *copies) inVolume(o object.Object) bool {
	return c.keeps(o) && c.volume != nil && !o.IsSecret()
}

// fileOf is the object as a file. Nil when it is written to none.
func (c *copies) fileOf(o object.Object) ([]byte, error) {
	if !c.inVolume(o) && !c.stores(o) {
		return nil, nil
	}
	return encodeFile(o)
}

// toStore writes the file of an object below storeResourcePath, if it has one there.
func (c *copies) toStore(o object.Object, file []byte) error {
	if !c.stores(o) {
		return nil
	}
	if _, err := c.store.write(o, file); err != nil {
		return c.storeWayOut(fmt.Errorf("copying %s: %w", o, err))
	}
	return nil
}

// toVolume writes the file of an object, which the entry then names in place of the object.
func (c *copies) toVolume(entry *Copy, o object.Object, file []byte) error {
	if err := c.budget.take(len(file)); err != nil {
		return err
	}
	name, err := c.volume.write(o, file)
	if err != nil {
		return c.wayOut(fmt.Errorf("copying %s: %w", o, err))
	}
	c.fileBytes += int64(len(file))
	entry.Object, entry.File, entry.SHA256 = nil, name, hashOf(file)
	return nil
}

// flush keeps what was added.
func (c *copies) flush(ctx context.Context) error {
	if c.store != nil {
		if err := c.store.sync(); err != nil {
			return c.storeWayOut(err)
		}
	}
	if c.volume != nil {
		if err := c.volume.sync(); err != nil {
			return c.wayOut(err)
		}
	}
	for _, chain := range []*chain{c.main, c.secrets} {
		if chain == nil {
			continue
		}
		if err := chain.flush(ctx); err != nil {
			return c.wayOut(err)
		}
	}
	return nil
}

// kept is what the status says of the copies. Nil when there are none.
func (c *copies) kept() *v1alpha1.RunCopies {
	if len(c.objects) == 0 {
		return nil
	}
	kept := &v1alpha1.RunCopies{
		Storage:        c.storage,
		Objects:        int64(len(c.objects)),
		Parts:          c.main.parts,
		Bytes:          c.main.size + c.fileBytes,
		Head:           c.main.head,
		S3Secret:       c.s3Secret,
		ExpirationTime: c.expires,
	}
	if c.secrets != nil && c.secrets.parts > 0 {
		kept.Secrets = &v1alpha1.CopyParts{Parts: c.secrets.parts, Head: c.secrets.head}
		kept.Bytes += c.secrets.size
	}
	return kept
}

// drop takes back what was written for a run that then touched nothing, outside of Secrets. What cannot be taken back
// is in nobody's way.
func (c *copies) drop(ctx context.Context) {
	for _, files := range []*files{c.volume, c.store} {
		if files != nil {
			_ = removeFiles(files.root, files.written)
		}
	}
	if c.bucket == nil {
		return
	}
	for n := range c.main.parts + 1 { // that of the last is not known
		if err := c.bucket.remove(ctx, c.bucket.key(c.run, c.attempt, n)); err != nil {
			return
		}
	}
}

// wayOut adds to an error what to look at.
func (c *copies) wayOut(err error) error {
	if err == nil || errors.Is(err, errTooLarge) {
		return err
	}
	where := fmt.Sprintf(
		"copies are kept in Secrets of the namespace %s, where the operator needs the right and the quota to create them; to keep copies in another place, set spec.rollback.storage",
		c.journal.namespace,
	)
	switch c.storage {
	case v1alpha1.StorageVolume:
		where = fmt.Sprintf(
			"copies are kept as files below %s (--copies-path), which must be there, writable and have room, and those of Secrets, with the list of the files, in Secrets of the namespace %s; to keep copies in another place, set spec.rollback.storage",
			c.journal.Places.CopiesPath,
			c.journal.namespace,
		)
	case v1alpha1.StorageS3:
		where = fmt.Sprintf(
			"copies are kept in the S3 bucket that Secret %s/%s names (--s3-secret), and those of Secrets in Secrets of that namespace; to keep copies in another place, set spec.rollback.storage",
			c.journal.namespace,
			c.journal.Places.S3Secret,
		)
	}
	return &copyFault{fmt.Errorf("%w; %s", err, where)}
}

func (c *copies) storeWayOut(err error) error {
	return &copyFault{
		fmt.Errorf(
			"%w; storeResourcePath asks for files below %s (--copies-path), which must be there, writable and have room; remove storeResourcePath if they are not needed",
			err,
			c.journal.Places.CopiesPath,
		),
	}
}
