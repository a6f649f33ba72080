# The server in a container: docker build -t throughline . && docker run -p 7420:7420 -v throughline:/data throughline
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /src
COPY . .
# Installs, builds the page, and packs what would be published.
RUN npm ci --no-audit --no-fund \
  && mkdir /out \
  && npm pack -w @throughline/core -w throughline --pack-destination /out

FROM node:24.21.0-bookworm-slim
COPY --from=build /out /tmp/out
RUN npm install --global --no-audit --no-fund --ignore-scripts /tmp/out/*.tgz \
  && npm cache clean --force && rm -rf /tmp/out \
  && mkdir /data && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 7420
HEALTHCHECK --interval=30s --timeout=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7420/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["throughline"]
# Other machines can reach it, so callers need a token: /data/.throughline/http-token
CMD ["serve", "--host", "0.0.0.0", "--set", "http.requireToken=true"]
