#!/usr/bin/env bash
# Installs programs that some tests need, on Debian and Ubuntu. What is installed already costs nothing.
#   scripts/install-test-programs.sh s3 browser     some groups
#   scripts/install-test-programs.sh all            all of them
set -euo pipefail
cd "$(dirname "$0")/.."

groups='s3 browser postgres15 faults deploy pandas python-clients python-projects python-stock schemathesis'
[ $# -gt 0 ] && [ "$1" != --help ] || { echo "usage: $0 all | GROUP...   groups: $groups" >&2; exit 2; }
[ "$*" = all ] || groups=$*

packages=()
# Adds a package unless the file that it installs exists.
need() {
  [ -e "$1" ] || packages+=("$2")
}

for group in $groups; do
  case $group in
    # The monitor, the object store and the gateway of Ceph: exports to a bucket, backups in one.
    s3) need /usr/bin/radosgw radosgw; need /usr/bin/ceph-mon ceph-mon; need /usr/bin/ceph-osd ceph-osd ;;
    # The console, and stock clients in a browser.
    browser) need /usr/bin/chromium-headless-shell chromium-headless-shell ;;
    # The oldest PostgreSQL that is supported.
    postgres15) need /usr/lib/postgresql/15/bin/initdb postgresql-15 ;;
    # Clocks that jump, poolers, a cluster with failover.
    faults)
      need /usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1 faketime; need /usr/sbin/pgbouncer pgbouncer
      need /usr/bin/patroni patroni; need /usr/bin/etcd etcd-server ;;
    # The files in deploy/.
    deploy)
      need /usr/bin/caddy caddy; need /usr/bin/docker-compose docker-compose; need /usr/sbin/nginx nginx-light
      need /usr/bin/promtool prometheus; need /usr/bin/systemd-analyze systemd ;;
    # Exported files as a data scientist reads them, the stock clients for Python, what projects install, the stock server for Python graphs, and requests made from
    # the OpenAPI document. In environments of their own, since the system's Python may not be changed.
    pandas | python-clients | python-projects | python-stock | schemathesis) /usr/bin/python3 -c 'import ensurepip' 2> /dev/null || packages+=(python3-venv) ;;
    *) echo "$0: unknown group $group; groups: $groups" >&2; exit 2 ;;
  esac
done

if [ ${#packages[@]} -gt 0 ]; then
  if ! command -v apt-get > /dev/null || [ "$(id -u)" != 0 ]; then
    echo "$0: needs apt-get and root to install: ${packages[*]}" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
fi

# Installs packages into a Python environment below build/. One that an interrupted installation has left is completed.
python_environment() {
  local folder=build/$1
  shift
  [ "$(cat "$folder/installed" 2> /dev/null)" = "$*" ] && return
  mkdir -p build
  /usr/bin/python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" > "$folder/installed"
}

if [[ " $groups " == *' pandas '* ]]; then python_environment python pandas==2.3.3 pyarrow==22.0.0; fi
if [[ " $groups " == *' python-clients '* ]]; then
  python_environment python-clients langgraph==1.2.24 langchain==1.5.2 langgraph-sdk==0.4.14 langsmith==0.15.1 fastapi==0.165.0
fi
if [[ " $groups " == *' python-projects '* ]]; then
  python_environment python-projects langgraph==1.2.24 langchain==1.5.2 langgraph-sdk==0.4.14 fastapi==0.165.0 deepagents==0.7.32 \
    langgraph-checkpoint-conformance==0.0.2
fi
if [[ " $groups " == *' python-stock '* ]]; then
  python_environment python-stock 'langgraph-cli[inmem]==0.4.40' langgraph-api==0.16.7 langgraph-runtime-inmem==0.36.7 langgraph==1.2.24 \
    langchain-core==1.8.3 numpy==2.4.6 pandas==3.1.1
fi
if [[ " $groups " == *' schemathesis '* ]]; then python_environment schemathesis schemathesis==4.32.5; fi
