#!/usr/bin/env bash
# Runs an image without a container engine, which a build machine may forbid: its files are read-only, and its program is uid 1000 and
# PID 1 of a namespace of its own. Checks the start, the health check, and SIGTERM with a run in flight.
#
#   deploy/test/image/try.sh my-agent postgresql://postgres@127.0.0.1:5432/empty_database
#
# Needs Linux, root, buildah, curl and jq.
set -euo pipefail
image=${1:?name the image} uri=${2:?name an empty database}
here=$(cd "$(dirname "$0")" && pwd)
key=0123456789abcdef0123456789abcdef
scratch=$(mktemp -d)

container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
declare -A pids=()
cleanup() {
  local pid
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
  wait || true
  buildah rm "$container" > /dev/null
  rm -rf "$scratch"
}
trap cleanup EXIT

config=$(buildah inspect --type image "$image" | jq '.Docker.config')
echo "user $(jq -r .User <<< "$config"), working directory $(jq -r .WorkingDir <<< "$config"), port $(jq -c .ExposedPorts <<< "$config")"
mapfile -t environment < <(jq -r '.Env[]' <<< "$config")
mapfile -t entrypoint < <(jq -r '.Entrypoint[]' <<< "$config")
mapfile -t command < <(jq -r '.Cmd[]' <<< "$config")
mapfile -t health < <(jq -r '.Healthcheck.Test[1:][]' <<< "$config")
owner=$(jq -r .User <<< "$config")
dir=$(jq -r .WorkingDir <<< "$config")

# A graph that takes six seconds, in addition to those of the image.
cp "$here/slow.ts" "$root$dir/slow.ts"
jq '.graphs.slow = "./slow.ts:graph"' "$root$dir/svc.json" > "$scratch/svc.json"
cp "$scratch/svc.json" "$root$dir/svc.json"

# inside NAME PROGRAM…: runs a program as PID 1, in the files of the image.
inside() {
  local name=$1
  shift
  mkdir -p "$scratch/$name"
  chown "$owner" "$scratch/$name"
  exec unshare --mount --pid --fork --kill-child bash -euc '
    root=$1 data=$2 dir=$3 owner=$4
    shift 4
    mount --bind "$root" "$root"
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$data" "$root/data"
    mount -o remount,bind,ro "$root"
    exec chroot --userspec="$owner" "$root" env -i -C "$dir" "$@"
  ' - "$root" "$scratch/$name" "$dir" "$owner" "${environment[@]}" "${@}"
}

# start NAME PORT SETTING…: starts the image as its ENTRYPOINT and CMD say.
start() {
  local name=$1 port=$2
  shift 2
  inside "$name" DATABASE_URI="$uri" SVC_API_KEY=$key SVC_PORT="$port" SVC_TEST_NAME="$name" "$@" \
    "${entrypoint[@]}" "${command[@]}" > "$scratch/$name.log" 2>&1 &
  pids[$name]=$!
}

# The process that is PID 1 in the namespace: the child of unshare.
first() { pgrep -P "${pids[$1]}"; }

# waitFor COMMAND…: repeats the command until it succeeds, for ten minutes at most.
waitFor() {
  local end=$((SECONDS + 600))
  until "$@" > /dev/null 2>&1; do
    if [ "$SECONDS" -ge "$end" ]; then echo "did not succeed: $*" >&2; cat "$scratch"/*.log >&2; exit 1; fi
    sleep 0.2
  done
}

# freePort: a port on which nothing listens.
freePort() {
  local port
  while port=$((20000 + RANDOM % 10000)) && (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do :; done
  echo "$port"
}

healthy() { (inside "$1" SVC_PORT="$2" "${health[@]}"); }
api() { curl -sS --fail-with-body -H "x-api-key: $key" -H 'content-type: application/json' "$@"; }
statusOf() { api "http://127.0.0.1:$1/threads/$thread/runs/$run" | jq -r .status; }
hasStatus() { [ "$(statusOf "$1")" = "$2" ]; }

create() {
  thread=$(api "http://127.0.0.1:$1/threads" -d '{}' | jq -r .thread_id)
  run=$(api "http://127.0.0.1:$1/threads/$thread/runs" -d '{"assistant_id": "slow", "input": {}}' | jq -r .run_id)
  waitFor hasStatus "$1" running
}

# stop NAME: sends SIGTERM to PID 1, and prints how it ended.
stop() {
  local status=0 begun=$SECONDS
  kill -TERM "$(first "$1")"
  wait "${pids[$1]}" || status=$?
  unset "pids[$1]"
  echo "$1 ended with exit code $status after $((SECONDS - begun)) s"
  [ "$status" = 0 ] || { cat "$scratch/$1.log"; exit 1; }
}

port1=$(freePort) port2=$(freePort) port3=$(freePort)
start one "$port1"
waitFor healthy one "$port1"
pid=$(first one)
echo "PID in its namespace: $(awk '/NSpid/ { print $NF }' "/proc/$pid/status"), uid $(awk '/^Uid/ { print $2 }' "/proc/$pid/status")"
echo "root: $(awk '$5 == "/" { print $6 }' "/proc/$pid/mountinfo")"
echo "capabilities: $(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")"
echo "health check: $(healthy one "$port1")"

echo '== SIGTERM with a run in flight: it ends first'
create "$port1"
stop one
start two "$port2"
waitFor healthy two "$port2"
api "http://127.0.0.1:$port2/threads/$thread/runs/$run" | jq -c '{status, attempt}'
hasStatus "$port2" success

echo '== SIGTERM with a grace of three seconds: another process continues the run'
start three "$port3" SVC_SHUTDOWN_GRACE=3s
waitFor healthy three "$port3"
create "$port3"
stop three
waitFor hasStatus "$port2" success
api "http://127.0.0.1:$port2/threads/$thread/runs/$run" | jq -c '{status, attempt, lost: [.lost_attempts[]? | {charged, message}]}'
api "http://127.0.0.1:$port2/threads/$thread/state" | jq -c .values.steps

echo '== a process that is not ready fails the health check'
if healthy nobody "$(freePort)" 2> "$scratch/unhealthy"; then echo "it is healthy" >&2; exit 1; fi
cat "$scratch/unhealthy"
stop two
