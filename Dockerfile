# The controller and the command line: docker build -t nodeippool:0.1.0 .
FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json

# What runs needs neither the tools that build it nor the packages of cdk8s and Pulumi.
FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=peer --omit=optional --ignore-scripts --no-audit --no-fund

# What runs in pods: docker build --target detect -t nodeippool-detect:0.1.0 .
FROM node:24-slim AS detect
RUN apt-get update && apt-get install --yes --no-install-recommends arping iproute2 ndisc6 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY --from=build /src/dist dist
COPY package.json LICENSE ./
ENTRYPOINT ["/usr/local/bin/node", "/app/dist/cli/bin.js"]
CMD ["detect"]

FROM gcr.io/distroless/nodejs24-debian13:nonroot
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY --from=build /src/dist dist
COPY package.json LICENSE ./
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/cli/bin.js"]
CMD ["controller"]
