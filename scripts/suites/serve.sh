# For scripts that need a server: serve COMMAND... starts one with a new data folder and sets its address, $url, and the folder, $data.
# It is stopped when the script ends.
serve() {
  data=$(mktemp -d)
  "$@" --port 0 --data-dir "$data" > "$data/out" 2>&1 &
  server=$!
  trap stop_server EXIT
  trap 'exit 143' TERM INT HUP
  while ! url=$(grep -o 'http://127\.0\.0\.1:[0-9]*' "$data/out" | head -n 1) || [ -z "$url" ]; do
    kill -0 "$server" 2> /dev/null || { cat "$data/out"; exit 1; }
    sleep 0.1
  done
}

# Fails when PostgreSQL is left behind.
stop_server() {
  local code=$?
  trap - EXIT
  # npm does not pass signals on. Before it has started the server, it is ended itself.
  kill -TERM $(pgrep -f "node .*svc start .*$data" || echo "$server") 2> /dev/null || true
  wait "$server" || true
  if pgrep -f "postgres .*$data" > /dev/null; then
    echo 'PostgreSQL was left behind' >&2
    code=1
  fi
  rm -rf "$data"
  exit $code
}
