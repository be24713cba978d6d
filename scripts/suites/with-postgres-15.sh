#!/usr/bin/env bash
# Runs a command with SVC_TEST_DATABASE_URI set to a new PostgreSQL 15, which is stopped and deleted when the command has ended.
#   scripts/suites/with-postgres-15.sh npm test
set -euo pipefail
bin=/usr/lib/postgresql/15/bin
[ -x $bin/initdb ] || { echo "$0: install PostgreSQL 15: scripts/install-test-programs.sh postgres15" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "$0: only root can start it as the user postgres" >&2; exit 1; }

# In memory where there is some: these databases are created and dropped by the hundred.
cluster=$(mktemp -d -p /dev/shm 2> /dev/null || mktemp -d)
as_postgres() {
  su postgres -s /bin/bash -c "$*"
}
command=
finish() {
  trap - EXIT
  [ -z "$command" ] || { kill -TERM "$command" 2> /dev/null && wait "$command" || true; }
  as_postgres $bin/pg_ctl -D "$cluster/data" -m immediate stop > /dev/null || true
  rm -rf "$cluster"
}
trap finish EXIT
trap 'exit 143' TERM INT HUP

chown postgres "$cluster"
as_postgres $bin/initdb -D "$cluster/data" -A trust -N > /dev/null
# It listens at a socket in its own folder only, so no port can be taken.
as_postgres "$bin/pg_ctl -D $cluster/data -l $cluster/log -w start \
  -o \"-k $cluster -p 5999 -c listen_addresses='' -c max_connections=300 -c fsync=off\"" > /dev/null
SVC_TEST_DATABASE_URI="postgresql://postgres@localhost/postgres?host=${cluster//\//%2F}&port=5999" "$@" &
command=$!
wait "$command" && code=0 || code=$?
command=
exit $code
