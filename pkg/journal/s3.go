// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// s3Timeout bounds each request, with its repetitions.
	s3Timeout = 10 * time.Second
	// s3Tries is how often a request is sent that failed in passing.
	s3Tries = 3
	// s3Idle is how long a connection is kept: each run makes its own.
	s3Idle = 10 * time.Second
)

// Keys of the Secret that says where the bucket is.
const (
	keyEndpoint  = "endpoint"
	keyBucket    = "bucket"
	keyRegion    = "region"
	keyPrefix    = "prefix"
	keyAccessKey = "accessKey"
	keySecretKey = "secretKey"
	keyInsecure  = "insecure"
)

// bucket is where copies are kept in S3.
type bucket struct {
	client *minio.Client
	name   string
	prefix string
	// timeout bounds each request.
	timeout time.Duration
	// mask takes the credentials out of an error.
	mask *strings.Replacer
}

// openBucket reads the Secret that says where the bucket is. It sends nothing to the bucket.
func openBucket(ctx context.Context, c client.Reader, namespace, name string) (*bucket, error) {
	var secret corev1.Secret
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s, which says where the S3 bucket is: %w", namespace, name, err)
	}
	b, err := newBucket(secret.Data)
	return b, wrap(fmt.Sprintf("Secret %s/%s, which says where the S3 bucket is", namespace, name), err)
}

func newBucket(data map[string][]byte) (*bucket, error) {
	value := func(key string) string { return strings.TrimSpace(string(data[key])) }
	var errs []error
	for _, key := range []string{keyEndpoint, keyBucket, keyAccessKey, keySecretKey} {
		if value(key) == "" {
			errs = append(errs, fmt.Errorf("the key %s is missing or empty", key))
		}
	}
	if strings.ContainsAny(value(keyEndpoint), "/@") {
		errs = append(
			errs,
			fmt.Errorf("the key %s must be a host, or a host and a port: s3.example.com:9000, without https://", keyEndpoint),
		)
	}
	insecure := value(keyInsecure)
	if insecure != "" && insecure != "true" && insecure != "false" {
		errs = append(errs, fmt.Errorf("the key %s must be true, for HTTP without TLS, or false", keyInsecure))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(insecure != "true")
	if err != nil {
		return nil, err
	}
	transport.IdleConnTimeout = s3Idle
	region := value(keyRegion)
	if region == "" {
		region = "us-east-1" // what most servers other than Amazon's take; without one, the client would ask for it
	}
	client, err := minio.New(value(keyEndpoint), &minio.Options{
		Creds:  credentials.NewStaticV4(value(keyAccessKey), value(keySecretKey), ""),
		Secure: insecure != "true", Region: region, Transport: transport, MaxRetries: s3Tries,
	})
	if err != nil {
		return nil, fmt.Errorf("the key %s must be a host, or a host and a port: s3.example.com:9000", keyEndpoint)
	}
	return &bucket{
		client: client, name: value(keyBucket), prefix: strings.Trim(value(keyPrefix), "/"), timeout: s3Timeout,
		mask: strings.NewReplacer(value(keySecretKey), "******", value(keyAccessKey), "******"),
	}, nil
}

// key names the n-th part of the copies of a run.
func (b *bucket) key(run *v1alpha1.CleanerRun, attempt string, n int32) string {
	return path.Join(b.prefix, run.Name, attempt, fmt.Sprintf("%s-%d", streamCopies, n))
}

// put keeps a part. S3 has it durably when it says so.
func (b *bucket) put(ctx context.Context, key string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	_, err := b.client.PutObject(ctx, b.name, key, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: "application/gzip", DisableMultipart: true, SendContentMd5: true})
	return b.wrap("writing", key, err)
}

func (b *bucket) get(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	part, err := b.client.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.wrap("reading", key, err)
	}
	data, err := io.ReadAll(io.LimitReader(part, maxPartBytes+1))
	if err = errors.Join(err, part.Close()); err == nil && len(data) > maxPartBytes {
		err = errors.New("it is larger than a part of copies")
	}
	return data, b.wrap("reading", key, err)
}

// remove deletes a part. One that is not there is no error.
func (b *bucket) remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return b.wrap("deleting", key, b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
}

func (b *bucket) wrap(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s s3://%s/%s: %s", doing, b.name, key, b.mask.Replace(err.Error()))
}
