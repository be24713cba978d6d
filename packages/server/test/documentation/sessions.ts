// Runs the sh blocks of a page as one session of bash, in a copy of the examples. Commands that start a server are sent to
// the test, which checks their options and starts one server per example; `curl` is redirected from the documented port to its port.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { svcCommand } from '../svc-command.ts';
import { openExamples, type Examples } from './examples.ts';
import { repository, type Block, type Page } from './pages.ts';

export interface Sessions extends AsyncDisposable {
  /** The copy of the checkout in which sessions run. */
  readonly checkout: string;
  /** Rejects with the output when a command fails. */
  run(page: Page, blocks: readonly Block[], signal: AbortSignal): Promise<string>;
}

const copyOfCheckout = (): string => {
  const checkout = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  const isSource = (path: string): boolean => !['.svc', 'node_modules'].includes(basename(path));
  cpSync(join(repository, 'examples'), join(checkout, 'examples'), { recursive: true, filter: isSource });
  for (const name of ['node_modules', 'packages', 'package.json'])
    symlinkSync(join(repository, name), join(checkout, name));
  return checkout;
};

export const openSessions = async (): Promise<Sessions> => {
  const checkout = copyOfCheckout();
  const examples = openExamples(checkout);
  const door = await listen(examples);
  return {
    checkout,
    run: (page, blocks, signal) => {
      const { port } = door.address() as AddressInfo;
      return runScript(
        scriptOf(blocks),
        { cwd: join(checkout, page.folder), door: `http://127.0.0.1:${port}` },
        signal,
      );
    },
    async [Symbol.asyncDispose]() {
      door.close();
      await examples[Symbol.asyncDispose]();
      rmSync(checkout, { recursive: true, force: true });
    },
  };
};

/** Accepts requests of shells to start something. */
const listen = async (examples: Examples): Promise<Server> => {
  const door = createServer((request, response) => {
    buffer(request)
      .then((body) => startFor(body.toString(), examples))
      .then((assignments) => response.end(assignments))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  return door;
};

/** Starts what the request names: working directory, arguments and environment. Returns assignments for the shell. */
const startFor = async (request: string, examples: Examples): Promise<string> => {
  const [cwd = '', count = '0', ...rest] = request.split('\0');
  const env = Object.fromEntries(
    rest.slice(Number(count)).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]),
  );
  // The page starts its server on the documented port.
  delete env['SVC_PORT'];
  const started = await examples.start({ cwd, args: rest.slice(0, Number(count)), env });
  linkDataFolder(started);
  const { documentedPort, port, databaseUri } = started;
  const database = databaseUri === undefined ? '' : `export SVC_DATABASE_URI='${databaseUri}'\n`;
  return `claim ${documentedPort} ${port}\n${database}`;
};

/** Commands that look for the data folder find that of the server which the test started. */
const linkDataFolder = ({ dataDir, documentedDataDir }: { dataDir?: string; documentedDataDir?: string }) => {
  if (dataDir === undefined || documentedDataDir === undefined || existsSync(documentedDataDir)) return;
  mkdirSync(dirname(documentedDataDir), { recursive: true });
  symlinkSync(dataDir, documentedDataDir);
};

const header = `
set -eo pipefail
shopt -s inherit_errexit
declare -A ports=()
trap 'status=$?; [ $status = 0 ] || echo "exit code $status in the block at $block" >&2' EXIT
start() {
  local reply
  reply=$({ printf '%s\\0' "$PWD" "$#" "$@"; env -0; } | command curl -sS --fail-with-body --data-binary @- "$SVC_DOCS_DOOR") ||
    { echo "$reply" >&2; return 1; }
  eval "$reply"
}
claim() {
  [ "\${ports[$1]:-$2}" = "$2" ] || { echo "port $1 is already used by another server of this page" >&2; return 1; }
  ports[$1]=$2
}
svc() {
  case $1 in
    dev | start) start svc "$@" ;;
    conformance) toServers "$@" && node "$SVC_DOCS_BIN" "\${args[@]}" ;;
    *) node "$SVC_DOCS_BIN" "$@" ;;
  esac
}
npx() { "$@"; }
refused() {
  local status=$1 output
  shift
  output=$("$@" 2>&1) || true
  [[ $output == *"error: $status"* ]] || { echo "not refused with $status: $output" >&2; return 1; }
}
npm() {
  case "$1 $2" in
    'ci ' | 'install ') ;;
    start* | 'run dev' | 'run idp') start npm "$@" ;;
    *) command npm "$@" ;;
  esac
}
# Sets args to the arguments, with the addresses of the servers that were started.
toServers() {
  local arg
  args=()
  for arg in "$@"; do
    if [[ $arg =~ ^(http://)?(127\\.0\\.0\\.1|localhost):([0-9]+)(.*)$ ]]; then
      local port=\${ports[\${BASH_REMATCH[3]}]}
      [ -n "$port" ] || { echo "nothing was started on port \${BASH_REMATCH[3]}" >&2; return 1; }
      arg="http://127.0.0.1:$port\${BASH_REMATCH[4]}"
    fi
    args+=("$arg")
  done
}
curl() {
  local args
  toServers "$@" || return 1
  command curl --fail-with-body -sS "\${args[@]}"
}
`;

/** A line that ends with a comment such as `# 403: …` has to be refused with this status. */
const withRefusals = (code: string): string => code.replaceAll(/^(.*\S) +# (4\d\d)\b.*$/gm, 'refused $2 $1');

const scriptOf = (blocks: readonly Block[]): string =>
  header +
  blocks
    .map(({ at, code, folder }) => {
      const run =
        folder === undefined
          ? withRefusals(code)
          : `pushd "$SVC_DOCS_CHECKOUT/${folder}" > /dev/null\n${withRefusals(code)}\npopd > /dev/null\n`;
      return `block='${at}'\n${run}`;
    })
    .join('\n');

const runScript = (
  script: string,
  where: { cwd: string; door: string },
  signal: AbortSignal,
): Promise<string> => {
  const child = spawn('bash', ['-c', script], {
    cwd: where.cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      // For commands such as svc doctor: another program may use the default port.
      SVC_PORT: '0',
      SVC_DOCS_DOOR: where.door,
      SVC_DOCS_BIN: svcCommand,
      SVC_DOCS_CHECKOUT: where.cwd.replace(/\/examples\/.*/, ''),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(output))));
  });
};
