# The image is two static programs and nothing else. It has no base image, whose tag could be another image tomorrow.
# make docker-build builds the programs with your Go, and then this image. make image builds the same image without docker.
FROM scratch
ARG TARGETARCH
COPY bin/linux-${TARGETARCH}/manager bin/linux-${TARGETARCH}/script-runner /
USER 65532:65532
ENTRYPOINT ["/manager"]
