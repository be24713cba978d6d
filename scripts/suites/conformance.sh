#!/usr/bin/env bash
# Starts a server of two users, and checks it from outside with every check of svc conformance.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/suites/serve.sh
serve npx svc start --config packages/conformance/graphs/svc.auth.json
npx svc conformance "$url" --header 'authorization: Bearer ann' --second-header 'authorization: Bearer bob' \
  --json "$data/report.json" || { cat "$data/out"; exit 1; }
if grep -q '"not tried": *[1-9]' "$data/report.json"; then cat "$data/report.json"; exit 1; fi
