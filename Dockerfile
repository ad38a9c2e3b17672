# `holon serve` in a container: the command without what built it, run by a user who is not root. The
# home is the volume. Run it with --init, which takes in what commands of agents leave behind, and
# publish the port on the host's loopback only: README.md has the line.
FROM node:26 AS build
WORKDIR /opt/holon
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY bin bin
COPY scripts scripts
COPY src src
RUN node scripts/build.mjs --alone

FROM node:26
WORKDIR /opt/holon
COPY --from=build /opt/holon/package.json ./
COPY --from=build /opt/holon/bin bin
COPY --from=build /opt/holon/dist dist
COPY --from=build /opt/holon/node_modules/@lydell node_modules/@lydell
COPY examples examples
COPY vendor vendor
RUN mkdir -p /usr/local/bin && ln -s /opt/holon/bin/holon /usr/local/bin/holon
RUN install -d -m 700 -o 1000 -g 1000 /var/lib/holon
ENV HOLON_HOME=/var/lib/holon
USER 1000:1000
VOLUME /var/lib/holon
EXPOSE 7777
HEALTHCHECK --start-period=20s CMD ["holon", "status", "--quiet"]
# Beyond its own loopback Holon serves no home without a token, so a new home gets one first.
CMD ["sh", "-c", "cd /var/lib/holon && { test -s control-token || ( umask 077 && node -p 'crypto.randomBytes(32).toString(\"base64url\")' > control-token ); } && exec holon serve --host 0.0.0.0 --allow-remote"]
