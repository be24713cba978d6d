#!/usr/bin/env bash
# Installs the S3 server of the tests: the monitor, the object store and the gateway of Ceph. For Debian and Ubuntu.
set -euo pipefail
missing=
for program in radosgw ceph-mon ceph-osd; do command -v $program > /dev/null || missing=yes; done
[ "$missing" ] || exit 0
if ! command -v apt-get > /dev/null || [ "$(id -u)" != 0 ]; then
  echo 'install-ceph.sh: needs apt-get and root; on other systems install radosgw, ceph-mon and ceph-osd' >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends radosgw ceph-mon ceph-osd > /dev/null
