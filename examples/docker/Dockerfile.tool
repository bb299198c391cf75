# An image that hands the executable to others, as the init container of examples/kubernetes does:
#
#   docker build -f examples/docker/Dockerfile.tool -t suture build
FROM busybox:stable-musl
COPY suture /suture
ENTRYPOINT ["/suture"]
