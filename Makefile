# What a fresh machine needs: Go, make, a C compiler, git, bash and coreutils. Everything else is built from Go modules,
# at the versions pinned here, into bin/ or the user's cache.

IMG ?= ghcr.io/kubecleaner/manager:dev
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
ARCH ?= $(shell go env GOARCH)
# With npm, an image gets the page. Set it to nothing to build one without.
NPM ?= $(shell command -v npm)
CONTAINER_TOOL ?= $(shell command -v docker || command -v podman || echo docker)
# The kustomization that deploy and undeploy render: config/default or one of the overlays.
OVERLAY ?= config/default
# What make test runs, and with which further flags: make test PKGS=./pkg/schedule TESTFLAGS='-run DST -v'. Of all
# packages those that take longest begin first: the others fill their waits.
PKGS ?= ./...
PKGS_FIRST = $(if $(filter ./...,$(PKGS)),./test/integration ./pkg/cli ./test/process)
TESTFLAGS ?=
# The newest releases of the minor versions before ours that k8s.io/kubernetes can be built of, and what make compat runs on them.
COMPAT_VERSIONS ?= 1.33.13 1.34.4 1.35.4
COMPAT_PKGS ?= ./test/integration ./test/restore ./test/findings
FUZZTIME ?= 20s
PAIRS ?= 1000000
FAULT_RUNS ?= 5000
FAULT_SEED ?= $(or $(SEED),1)
RACES ?= 10000

# What runs without -race is built with the flags of the image. So each target uses what another one has compiled.
go := CGO_ENABLED=0 GOFLAGS="-trimpath $${GOFLAGS-}" go

CONTROLLER_GEN := bin/controller-gen-v0.23.0
CRD_REF_DOCS := bin/crd-ref-docs-v0.3.0
GOLANGCI_LINT := bin/golangci-lint-v2.15.0
GOVULNCHECK := bin/govulncheck-v1.9.0
# In small letters: the tests have PROMTOOL in their environment, with the whole path.
promtool := bin/promtool-v0.313.5

# kubectl from PATH if it is the real one, else ours: a script or a cloud tool's dispatcher may run any old version.
# Looked for once, and only by the targets that use it.
hash := \#
ifndef KUBECTL
KUBECTL = $(eval KUBECTL := $(shell k=$$(command -v kubectl) && [[ $$(head -c 2 "$$k") != '$(hash)!' ]] && \
	v=$$("$$k" version --client 2>/dev/null) && [[ $$v != *dispatcher* ]] && echo "$$k" || \
	echo "$$(test/controlplane/build.sh)/kubectl"))$(KUBECTL)
endif

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "; printf "Usage: make \033[36m<target>\033[0m\n"} \
		/^[a-z0-9-]+:.*## / {printf "  \033[36m%-14s\033[0m %s\n", $$1, $$2} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' $(MAKEFILE_LIST)

.PHONY: all
all: manifests generate fmt vet build ## Generate, format, vet and build.

.PHONY: demo
demo: ## See the operator and the plugin work on a control plane of their own, until Ctrl-C; ONESHOT=1 checks the outcome and ends; ARGS are flags for the operator.
	@assets=$$(test/controlplane/build.sh); echo 'Building the manager and the demo ...'; \
	$(go) build -o bin/ ./cmd/manager ./cmd/script-runner ./cmd/kubectl-cleaner ./hack/demo; \
	KUBEBUILDER_ASSETS=$$assets ONESHOT='$(ONESHOT)' exec bin/demo -- $(ARGS)

##@ Development

.PHONY: build
build: ## Build the manager, what it runs scripts in, and the kubectl plugin into bin/.
	$(go) build -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/manager ./cmd/script-runner ./cmd/kubectl-cleaner

.PHONY: cross
cross: ## Build the kubectl plugin for every system it is for, or for TARGETS, into bin/OS-ARCH/.
	@for target in $(or $(TARGETS),linux/amd64 linux/arm64 darwin/arm64 windows/amd64); do \
		echo "kubectl-cleaner for $$target"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(go) build -ldflags '-s -w -X main.version=$(VERSION)' -o "bin/$${target/\//-}/" ./cmd/kubectl-cleaner; \
	done

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate the CRDs and the operator's role.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=manager-role paths=./cmd/... paths=./controllers/... paths=./pkg/... output:rbac:dir=config/rbac

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate the DeepCopy methods.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: docs
docs: ## Build the docs site into bin/docs; it needs Node 20 and npm. A dead link between pages is an error, and so is a request to another host.
	cd docs && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run build
	hack/check-site.sh bin/docs

.PHONY: web
web: ## Build the page into web/dist, check its size, and try its parts; it needs Node 20 and npm. Without it, the Go build works, too.
	cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run check && npm run build && npm test

# For images. Without Node, they are built all the same, with the page that web/dist has, if any.
.PHONY: page
page:
	@if [[ -n '$(NPM)' ]]; then cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run build; \
	elif [[ ! -e web/dist/index.html ]]; then echo 'Without npm, the image has no page: manager dashboard serves its API only. Node 20 brings npm.' >&2; fi

.PHONY: web-e2e
web-e2e: web ## Try every page and action in Chromium, by keyboard, on a phone's width and in both schemes; SHOTS=DIR keeps screenshots.
	cd web && npm run e2e

.PHONY: dashboard
dashboard: ## Write the Grafana dashboard of config/grafana from hack/dashboard.
	$(go) run ./hack/dashboard >config/grafana/dashboard.json

.PHONY: chart
chart: ## Write the parts of the Helm chart that are generated from config.
	$(go) run ./hack/chart

.PHONY: reference
reference: $(CRD_REF_DOCS) ## Write the reference of the API, docs/reference/api.md, from the Go types.
	$(CRD_REF_DOCS) --log-level=ERROR --source-path=api/v1alpha1 --config=hack/api-reference.yaml --renderer=markdown --output-path=docs/reference/api.md
	sed -E -i -e '1s/.*/# API/' -e 's/ ?<br \/> *\|/ |/g; s/ <br \/>/, /g; s/<br \/>/ /g' -e 's/(Required|Optional): \\\{\\\}/\L\1/g' \
		-e 's/^\| `(\w+)` \| [A-Z]\w*\1 /| `\1` | \1 /; s/[ \t]*$$//' docs/reference/api.md
	@cat -s docs/reference/api.md >bin/api.md && mv bin/api.md docs/reference/api.md

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the code (gofumpt).
	$(GOLANGCI_LINT) fmt ./...

.PHONY: vet
vet: ## Run go vet, also on the end-to-end tests.
	$(go) vet -tags e2e ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check style, common mistakes and who imports whom.
	@set -x; export CGO_ENABLED=0 GOFLAGS=-trimpath; \
	$(GOLANGCI_LINT) run ./...; \
	(cd hack/release && '$(CURDIR)/$(GOLANGCI_LINT)' run ./...); \
	(cd test/servers && '$(CURDIR)/$(GOLANGCI_LINT)' run ./...)

.PHONY: run
run: ## Run the manager on this machine against the cluster of KUBECONFIG; ARGS are more flags.
	$(go) run ./cmd/manager --leader-elect=false $(ARGS)

##@ Tests

.PHONY: controlplane
controlplane: ## Build etcd, kube-apiserver, kube-controller-manager and kubectl once; print where they are.
	@test/controlplane/build.sh

# make lint vets the code: -vet=off.
.PHONY: test
test: ## Run all tests but e2e, with everything they need.
	@assets=$$(test/controlplane/build.sh); set -x; \
	PROMTOOL='$(if $(wildcard $(promtool)),$(CURDIR)/$(promtool))' KUBEBUILDER_ASSETS=$$assets go test -race -vet=off -shuffle=on -timeout 45m $(TESTFLAGS) $(PKGS_FIRST) $(PKGS); \
	[ '$(PKGS)' != ./... ] || (cd test/promtool && $(go) test -count=1 ./...); \
	[ '$(PKGS)' != ./... ] || (cd test/oracle && $(go) test -count=1 ./...); \
	[ '$(PKGS)' != ./... ] || (cd hack/release && $(go) test -shuffle=on ./...)

.PHONY: compat
compat: ## Run COMPAT_PKGS on older versions of Kubernetes: on K8S=1.33.13, or on all of COMPAT_VERSIONS; 15 minutes each the first time.
	@failed=; for version in $(or $(K8S),$(COMPAT_VERSIONS)); do \
		assets=$$(test/controlplane/compat.sh "$$version"); \
		echo "Kubernetes $$version:"; \
		KUBEBUILDER_ASSETS=$$assets $(go) test -count=1 -shuffle=on -timeout 45m $(TESTFLAGS) $(COMPAT_PKGS) || failed+=" $$version"; \
	done; \
	[ -z "$$failed" ] || { echo "failed on Kubernetes$$failed" >&2; exit 1; }

.PHONY: chart-test
chart-test: ## Render the Helm chart with Helm 3 and 4, compare it with config, and install it on a real API server; a minute.
	@assets=$$(test/controlplane/build.sh); set -x; \
	cd test/chart && KUBEBUILDER_ASSETS=$$assets $(go) test -shuffle=on -count=1 -timeout 15m $(TESTFLAGS) ./...

# A package is listed if its tests import the control plane neither directly nor through other packages, and do not start processes for
# scripts: to see what happens at their limits takes more than a minute. Those of the alerts need promtool, which make alerts builds.
unit-packages = go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | \
	awk '$$1 ~ /[.]test$$/ && !/[/]test[/]testenv( |$$)|^[^ ]*[/]sandbox[.]test |^[^ ]*[/]monitoring[.]test / { sub(/[.]test$$/, "", $$1); print $$1 }'

.PHONY: unit
unit: ## Run the tests that need no control plane, but not those of the processes for scripts; less than a minute.
	@packages=$$($(unit-packages)); $(go) test -shuffle=on $(TESTFLAGS) $$packages

.PHONY: nightly
nightly: ## Run what takes hours: fuzz, fault and crash with fresh seeds, compat, docs, the page in a browser, a release. Or some STEPS.
	COMPAT_VERSIONS='$(COMPAT_VERSIONS)' hack/nightly.sh

.PHONY: crash
crash: ## Kill the manager at every request of its runs, and of takeovers, and pause leaders past their lease; 20 minutes.
	@assets=$$(test/controlplane/build.sh); set -x; \
	CRASH=all KUBEBUILDER_ASSETS=$$assets $(go) test -count=1 -timeout 90m -v -run '^(TestCrash|TestCrashInTheTakeover|TestPausedLeader)$$' ./test/process

.PHONY: image
image: page ## Build the image IMG without docker: for all platforms as an OCI layout in bin/image, for this one in bin/image.tar.
	$(go) -C hack/release run . image -ref '$(IMG)' -version '$(VERSION)' -layout '$(CURDIR)/bin/image' -archive '$(CURDIR)/bin/image.tar'

.PHONY: reproducible
reproducible: ## Build the image of HEAD twice, in two directories and without a cache, and compare the digests; 10 minutes.
	hack/release/reproduce.sh

.PHONY: release
release: release_all = $(go) -C hack/release run . all -version '$(VERSION)' -kubectl '$(KUBECTL)' $(if $(DRY),-dry) $(if $(REGISTRY),-image '$(REGISTRY)/manager' -charts '$(REGISTRY)/charts',-public)
release: ## Write all files of the release VERSION to bin/release, with the page in image and plugin; without DRY=1, also push the image and the chart.
	@$(release_all) -check
	$(MAKE) web
	$(release_all)

.PHONY: set-version
set-version: ## Write VERSION wherever the docs, config and the chart name the version of the newest release.
	@[ '$(origin VERSION)' != file ] || { echo "set VERSION, for example VERSION=v0.2.0" >&2; exit 1; }
	$(go) -C hack/release run . version -version '$(VERSION)'

# On a busy machine, Go's fuzzer can fail at its end with "context deadline exceeded". A real failure writes its input to
# testdata, so the second try fails as well.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME, and PAIRS random scripts on lazy and on eager tables.
	@failed=; while IFS=: read -r file func; do \
		echo "$${func#func } in $$(dirname "$$file")"; \
		fuzz=(go test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "./$$(dirname "$$file")"); \
		"$${fuzz[@]}" </dev/null || "$${fuzz[@]}" </dev/null || failed+=" $${func#func }"; \
	done < <(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' api cmd controllers pkg test | sort); \
	[ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }
	PAIRS=$(PAIRS) go test -run '^TestMillionPairs$$' -count=1 -timeout 60m ./pkg/expr/lua

.PHONY: fault
fault: ## Run FAULT_RUNS runs behind a proxy that breaks requests, every partial view, and RACES races; FAULT_SEED chooses them.
	@assets=$$(test/controlplane/build.sh); set -x; \
	KUBEBUILDER_ASSETS=$$assets go test -race -count=1 -timeout 180m -v ./test/faults \
		-fault-runs=$(FAULT_RUNS) -fault-seed=$(FAULT_SEED) -races=$(RACES) -partial=0 \
		| { grep -v '^ *--- PASS\|^=== ' || true; }

.PHONY: leaks
leaks: ## Count goroutines and descriptors after 1,000 runs, and deliver beside a channel that hangs 150 times.
	@assets=$$(test/controlplane/build.sh); set -x; \
	KUBEBUILDER_ASSETS=$$assets $(go) test -count=1 -timeout 45m ./test/integration \
		-run '^(TestRunsLeaveNothingBehind|TestServiceThatHangsBesideAGoodOne)$$' -leak-runs=1000 -hang-runs=150

.PHONY: alerts
alerts: $(promtool) ## Try the alerts with Prometheus' own rule tester, and parse every expression of the dashboard; minutes the first time.
	PROMTOOL='$(CURDIR)/$(promtool)' $(go) test -count=1 -timeout 10m -v ./test/monitoring

.PHONY: bench
bench: ## Measure against the floors of the same run, on a control plane and a load of its own; docs/explanation/performance.md explains.
	@assets=$$(test/controlplane/build.sh); set -x; \
	$(go) build -ldflags '-s -w' -o bin/ ./test/bench ./cmd/script-runner; \
	KUBEBUILDER_ASSETS=$$assets bin/bench $(ARGS)

.PHONY: helm
helm: ## Build the helm of the chart's tests into bin/.
	$(go) build -C test/chart -o '$(CURDIR)/bin/helm' helm.sh/helm/v4/cmd/helm

.PHONY: e2e
e2e: helm ## Run the user stories on the cluster of KUBECONFIG, which must know the image IMG.
	@[ -n "$${KUBECONFIG:-}" ] || { echo "set KUBECONFIG: e2e changes the cluster it names" >&2; exit 1; }
	IMG='$(IMG)' KUBECTL='$(KUBECTL)' HELM='$(CURDIR)/bin/helm' $(go) test -tags e2e -count=1 -timeout 30m -v ./test/e2e/...

.PHONY: shellcheck
shellcheck: ## Check the shell scripts.
	git ls-files | xargs grep -lE '^#!.*(bash|/sh)$$' | xargs shellcheck

.PHONY: vulncheck
vulncheck: $(GOVULNCHECK) ## Look for known vulnerabilities in what is called; it asks vuln.go.dev.
	$(GOVULNCHECK) ./...

# What compares pages with the code: those on commands and codes, flags, metrics, references, findings, events and reasons, and the versions
# that all pages name. The test of the page on recipes needs the control plane, so it runs only if that is built.
page-tests = TestCommandsAreDocumented|TestFlagsAreDocumented|TestEveryMetricIsDocumented|TestReferencesAreDocumented|TestDocs|TestEvents|TestReasons|TestVersions|TestGenerated
page-packages = ./pkg/cli ./cmd/manager ./pkg/metrics ./pkg/graph ./pkg/finding ./test/docs

.PHONY: verify
verify: manifests generate chart reference ## Check that generated files, pages of the reference and go.mod files are up to date.
	@git --no-pager diff --exit-code -- api config charts docs/reference || { echo "generated files differ: commit what make manifests generate chart reference makes" >&2; exit 1; }
	@new=$$(git ls-files --others --exclude-standard -- api config charts docs/reference); \
	[ -z "$$new" ] || { printf 'not under version control:\n%s\n' "$$new" >&2; exit 1; }
	@recipes=; if assets=$$(test/controlplane/build.sh --lookup 2>/dev/null); then recipes=./test/recipes; export KUBEBUILDER_ASSETS=$$assets; fi; set -x; \
	$(go) test -run '^($(page-tests))$$' $(page-packages) $$recipes
	go mod tidy -diff
	cd test/controlplane && go mod tidy -diff
	cd test/promtool && go mod tidy -diff
	cd test/oracle && go mod tidy -diff
	cd test/servers && go mod tidy -diff
	cd test/chart && go mod tidy -diff
	cd hack/release && go mod tidy -diff

##@ Deployment

.PHONY: install
install: ## Install the CRDs into the cluster of KUBECONFIG.
	$(KUBECTL) apply -k config/crd

.PHONY: uninstall
uninstall: ## Remove the CRDs, and with them every Cleaner and its records.
	$(KUBECTL) delete --ignore-not-found -k config/crd

# The image is put into the rendered text: no kustomization in the tree is ever edited.
render = $(KUBECTL) kustomize $(OVERLAY) | sed -E 's|^( *(- )?image: *)("?)ghcr.io/kubecleaner/manager(:[^"]*)?"?$$|\1$(IMG)|'

.PHONY: deploy
deploy: ## Deploy the operator with the image IMG; OVERLAY=config/... chooses the rights.
	$(render) | $(KUBECTL) apply -f -

# All documents but Namespaces: k8s-cleaner, and whatever else, may be in the operator's.
no-namespace = function put() { if (doc != "" && doc !~ /(^|\n)kind: Namespace\n/) printf "---\n%s", doc; doc = "" } \
	/^---$$/ { put(); next } { doc = doc $$0 "\n" } END { put() }

# The Cleaners go first, while the operator is there to let go of those that k8s-cleaner put a finalizer on.
.PHONY: undeploy
undeploy: ## Remove all that deploy made but the namespace, and with the CRDs every Cleaner and its records.
	@! $(KUBECTL) get crd cleaners.apps.projectsveltos.io >/dev/null 2>&1 || $(KUBECTL) delete cleaners --all --timeout=60s
	$(render) | awk '$(no-namespace)' | $(KUBECTL) delete --ignore-not-found -f -
	@namespace=$$($(KUBECTL) kustomize $(OVERLAY) | sed -n 's/^  namespace: //p' | sort -u | head -n 1); \
	$(KUBECTL) -n "$$namespace" delete --ignore-not-found secrets,configmaps -l app.kubernetes.io/part-of=kubecleaner; \
	$(KUBECTL) -n "$$namespace" delete --ignore-not-found lease kubecleaner-leader; \
	echo "The namespace $$namespace stays, because others may use it too. If nobody does: kubectl delete namespace $$namespace"

.PHONY: docker-build
docker-build: page ## Build the image IMG with docker or podman, for this machine's architecture or for ARCH.
	GOOS=linux GOARCH=$(ARCH) $(go) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/linux-$(ARCH)/ ./cmd/manager ./cmd/script-runner
	$(CONTAINER_TOOL) build --platform linux/$(ARCH) -t '$(IMG)' .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push '$(IMG)'

##@ Housekeeping

.PHONY: tools
tools: $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(GOLANGCI_LINT) ## Build the pinned tools into bin/.

.PHONY: clean
clean: ## Remove bin/. The control plane stays in the user's cache.
	rm -rf bin

# A tool's file carries its version, so a bump rebuilds it; the plain name is a link to the current one.
go-install = GOBIN='$(CURDIR)/bin/.new' CGO_ENABLED=0 GOFLAGS=-trimpath go install $(1) && mv bin/.new/$(2) $@ && rm -rf bin/.new && ln -sf $(notdir $@) bin/$(2)

bin/controller-gen-%:
	@mkdir -p bin
	$(call go-install,sigs.k8s.io/controller-tools/cmd/controller-gen@$*,controller-gen)

bin/crd-ref-docs-%:
	@mkdir -p bin
	$(call go-install,github.com/elastic/crd-ref-docs@$*,crd-ref-docs)

bin/golangci-lint-%:
	@mkdir -p bin
	$(call go-install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$*,golangci-lint)

bin/govulncheck-%:
	@mkdir -p bin
	$(call go-install,golang.org/x/vuln/cmd/govulncheck@$*,govulncheck)

# The version is that of test/promtool/go.mod. Without service discovery, which no rule needs, it builds in half the time.
bin/promtool-%:
	@mkdir -p bin
	@grep -Eq 'prometheus/prometheus $*( |$$$$)' test/promtool/go.mod || { echo "test/promtool/go.mod has another version of Prometheus than $*" >&2; exit 1; }
	cd test/promtool && $(go) build -tags remove_all_sd -ldflags '-s -w' -o '$(CURDIR)/$@' github.com/prometheus/prometheus/cmd/promtool
