# Both images are named by a tag, which may be another image tomorrow. To build from images that you have looked at, name them by digest:
# make docker-build GO_IMAGE=golang:1.26@sha256:... BASE_IMAGE=gcr.io/distroless/static:nonroot@sha256:...
# (make docker-digests prints them as the registries have them now).
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

# The builder runs on the machine's own platform and cross-compiles: no emulation.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src

# The modules in a layer of their own: a change of code does not fetch them again.
COPY go.mod go.sum ./
RUN go mod download

COPY api/ api/
COPY cmd/ cmd/
COPY controllers/ controllers/
COPY pkg/ pkg/
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/manager ./cmd/script-runner

FROM ${BASE_IMAGE}
COPY --from=builder /out/ /
USER 65532:65532
ENTRYPOINT ["/manager"]
