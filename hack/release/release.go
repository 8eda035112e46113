// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// release is one release: what is built, from what, and where it goes.
type release struct {
	root, out, version, kubectl string
	// repository is where the image is pushed, and charts where the chart is, both without a tag.
	repository, charts string
	// dry builds everything and publishes nothing; check builds nothing, either.
	dry, check bool
	// public makes sure that everybody can pull what was pushed.
	public          bool
	images, plugins []target
	src             source
}

// published is what registries get.
type published struct {
	image images
	chart v1.Image
	// chartVersion is the tag of the chart.
	chartVersion string
}

func releaseCommand(ctx context.Context, args []string) error {
	r, err := parseReleaseFlags(args)
	if err != nil || r.check {
		return err
	}
	if r.src, err = readSource(ctx, r.root, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	if err := r.mayStart(); err != nil {
		return err
	}
	made, err := r.write(ctx)
	if err != nil {
		return err
	}
	fmt.Println("wrote", r.out)
	if r.dry {
		return nil
	}
	return r.push(ctx, made, remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

func parseReleaseFlags(args []string) (release, error) {
	var r release
	flags := flag.NewFlagSet("all", flag.ContinueOnError)
	flags.StringVar(&r.root, "root", "../..", "the directory of the repository")
	flags.StringVar(&r.out, "o", "", "the directory to write to; default bin/release/VERSION")
	flags.StringVar(&r.version, "version", "", "the version, for example v0.1.0")
	flags.StringVar(&r.kubectl, "kubectl", "kubectl", "the kubectl that renders config")
	flags.StringVar(&r.repository, "image", "ghcr.io/kubecleaner/manager", "the repository of the image")
	flags.StringVar(&r.charts, "charts", "ghcr.io/kubecleaner/charts", "the repository below which the chart is")
	flags.BoolVar(&r.check, "check", false, "only check the flags, and write nothing")
	flags.BoolVar(&r.dry, "dry", false, "publish nothing, and accept changes that are not committed")
	flags.BoolVar(&r.public, "public", false, "fail if the image or the chart cannot be pulled without a login")
	imageTargets := flags.String("platforms", "linux/amd64,linux/arm64", "the platforms of the image")
	pluginTargets := flags.String(
		"plugin-platforms",
		"linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64",
		"the platforms of the plugin",
	)
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	if err := checkVersion(r.version); err != nil {
		return r, err
	}
	if r.out == "" {
		r.out = filepath.Join(r.root, "bin", "release", r.version)
	}
	var err error
	if r.images, err = parseTargets(*imageTargets); err != nil {
		return r, err
	}
	r.plugins, err = parseTargets(*pluginTargets)
	return r, err
}

// mayStart refuses to publish what is not in version control, and to write among older files.
func (r release) mayStart() error {
	if !r.dry {
		if err := r.src.mayRelease(r.version); err != nil {
			return err
		}
		if runs, err := versionOf(r.root); err != nil || runs != r.version {
			return cmp.Or(err, fmt.Errorf("config/manager runs %s: run make set-version VERSION=%s, and commit it", runs, r.version))
		}
		if _, err := os.Stat(filepath.Join(r.root, "web", "dist", "index.html")); err != nil {
			return fmt.Errorf("the page is not built, which image and plugin need: run make web: %w", err)
		}
	}
	if entries, err := os.ReadDir(r.out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it first", r.out)
	}
	return nil
}

// write builds all files of the release.
func (r release) write(ctx context.Context) (published, error) {
	var made published
	files := &files{dir: r.out}
	err := step("image", func() (err error) { made.image, err = r.writeImage(ctx, files); return err })
	if err == nil {
		err = step("manifests", func() error { return r.writeManifests(ctx, files, made.image) })
	}
	if err == nil {
		err = step("chart", func() (err error) { made.chart, made.chartVersion, err = r.writeChart(files); return err })
	}
	if err == nil {
		err = step("plugin", func() error { return r.writePlugins(ctx, files) })
	}
	if err != nil {
		return published{}, err
	}
	if err := r.writeNotes(ctx, files); err != nil {
		return published{}, err
	}
	return made, files.writeChecksums()
}

// writeNotes lets a dry run be without a text in CHANGELOG.md, which has none right after a release.
func (r release) writeNotes(ctx context.Context, files *files) error {
	text, err := notes(ctx, r.root, r.version)
	if errors.Is(err, errNoSection) && r.dry {
		fmt.Fprintln(os.Stderr, "warning:", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return files.write("notes.md", text)
}

func (r release) writeImage(ctx context.Context, files *files) (images, error) {
	built, err := buildImage(ctx, r.root, r.version, r.src, r.images)
	if err != nil {
		return images{}, err
	}
	dir, err := os.MkdirTemp("", "kubecleaner-layout-")
	if err != nil {
		return images{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeLayout(dir, r.repository+":"+r.version, built); err != nil {
		return images{}, err
	}
	entries, err := layoutEntries(dir)
	if err != nil {
		return images{}, err
	}
	data, err := packTar(entries, r.src.created)
	if err != nil {
		return images{}, err
	}
	err = files.write("kubecleaner-manager_"+r.version+"_oci.tar", data)
	for _, t := range built.order {
		err = errors.Join(
			err,
			files.write("kubecleaner-manager_"+r.version+"_"+t.suffix()+".spdx.json", built.platforms[t].sbom),
		)
	}
	return built, err
}

func (r release) writeManifests(ctx context.Context, files *files, built images) error {
	digest, err := built.index.Digest()
	if err != nil {
		return err
	}
	image := r.repository + ":" + r.version + "@" + digest.String()
	install, err := r.withImage(ctx, "default", image)
	if err != nil {
		return err
	}
	page, err := r.withImage(ctx, "dashboard", image)
	if err != nil {
		return err
	}
	crds, err := kustomize(ctx, r.kubectl, filepath.Join(r.root, "config", "crd"))
	if err != nil {
		return err
	}
	schemas, err := crdSchemas(filepath.Join(r.root, "config", "crd", "bases"))
	if err != nil {
		return err
	}
	packed, err := packTarGz(schemas, r.src.created)
	if err != nil {
		return err
	}
	return errors.Join(
		files.write("install.yaml", install),
		files.write("dashboard.yaml", page),
		files.write("crds.yaml", crds),
		files.write("crd-schemas.tar.gz", packed),
	)
}

// withImage renders a directory of config that runs the image.
func (r release) withImage(ctx context.Context, dir, image string) ([]byte, error) {
	manifest, err := kustomize(ctx, r.kubectl, filepath.Join(r.root, "config", dir))
	tag := ""
	if err == nil {
		manifest, tag, err = withImage(manifest, image)
	}
	if err != nil {
		return nil, fmt.Errorf("config/%s: %w", dir, err)
	}
	if tag != r.version {
		err = fmt.Errorf("config/%s runs the image %q: write %s there, for those who apply config/%s?ref=%s", dir, tag, r.version, dir, r.version)
		if !r.dry {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, "warning:", err)
	}
	return manifest, nil
}

// writeChart leaves the chart out of a dry run where there is none.
func (r release) writeChart(files *files) (v1.Image, string, error) {
	c, err := packChart(filepath.Join(r.root, "charts", "kubecleaner"), r.version, r.repository, r.src.created)
	if errors.Is(err, errNoChart) && r.dry {
		fmt.Fprintln(os.Stderr, "warning:", err)
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	image, err := c.ociChart(r.src.created)
	return image, c.version, errors.Join(err, files.write(c.file(), c.data))
}

func (r release) writePlugins(ctx context.Context, files *files) error {
	plugins, err := buildPlugins(ctx, r.root, r.version, r.src, r.plugins)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		err = errors.Join(err, files.write(p.file, p.data), files.write(p.sbomFile(), p.sbom))
	}
	manifest, marshalErr := krewManifest(r.version, plugins)
	return errors.Join(err, marshalErr, files.write("krew-cleaner.yaml", manifest))
}

// push publishes the image first: the chart is of no use without it.
func (r release) push(ctx context.Context, made published, options ...remote.Option) error {
	image := r.repository + ":" + r.version
	if err := pushImage(ctx, image, made.image, options...); err != nil {
		return err
	}
	fmt.Println("pushed", image)
	chart := strings.TrimSuffix(r.charts, "/") + "/kubecleaner:" + made.chartVersion
	if err := pushChart(ctx, chart, made.chart, options...); err != nil {
		return err
	}
	fmt.Println("pushed", chart)
	if !r.public {
		return nil
	}
	return errors.Join(checkPublic(ctx, image), checkPublic(ctx, chart))
}

// step says how long a part of the release took.
func step(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%6.1fs  %s\n", time.Since(start).Seconds(), name)
	return nil
}
