#!/bin/sh
# Installs an api and a worker as services of systemd. As root, in a checkout of svc, with the image context of `svc build` unpacked in /opt/my-agent:
#   DATABASE_URI=postgresql://svc:secret@db.example.com/svc sh deploy/systemd/install.sh
# Run it again after a change of the project; it keeps /etc/svc.
set -eu
: "${DATABASE_URI:?names your PostgreSQL}"
project=/opt/my-agent

id svc > /dev/null 2>&1 || useradd --system --home-dir /var/lib/svc --shell /usr/sbin/nologin svc
(cd "$project" && npm ci --omit=dev)

install -d -m 0700 /etc/svc
if [ ! -e /etc/svc/svc.env ]; then
  install -m 0600 /dev/null /etc/svc/svc.env
  cat > /etc/svc/svc.env << END
DATABASE_URI=$DATABASE_URI
SVC_ENCRYPTION_KEY=$(openssl rand -hex 32)
SVC_API_KEY=$(openssl rand -hex 32)
SVC_TRUSTED_PROXIES=127.0.0.1
END
fi
[ -e /etc/svc/worker.env ] || echo SVC_PORT=2025 > /etc/svc/worker.env
install -d -o svc -g svc -m 0700 /var/lib/svc /var/lib/svc/api

once() {
  systemd-run --wait --pipe --quiet --uid=svc --property=EnvironmentFile=/etc/svc/svc.env --setenv=SVC_DATA_DIR=/var/lib/svc/api \
    --working-directory="$project" "$project/node_modules/.bin/svc" "$@"
}
cp "$(dirname "$0")/svc@.service" /etc/systemd/system/
once doctor
once migrate
systemctl enable --now svc@api svc@worker
