// A process that holds the embedded PostgreSQL open in its own namespaces, like a container: other pids, host name and /tmp, and no shared
// memory. It shares only the data folder, like a volume.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';

const isRoot = process.getuid?.() === 0;
const namespaces = [
  ...(isRoot ? [] : ['--map-root-user']),
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
  '--ipc',
  '--uts',
];

/** True when this machine allows creating namespaces. */
export const canContain = (): boolean => spawnSync('unshare', [...namespaces, 'true']).status === 0;

/** Longer than the maximum length of a socket path, so that the socket is in the /tmp of the container. */
const folder = `/mnt/${'a-volume-with-a-long-name-'.repeat(4)}`;
/** Host name, data folder and checkout, then the command. The checkout stays where it is, also below /tmp. */
const setUp = `hostname "$1"
mount -t tmpfs tmpfs /mnt && mkdir "${folder}" /mnt/checkout
mount --bind "$2" "${folder}" && mount --bind "$3" /mnt/checkout && mount -t tmpfs tmpfs /tmp
case "$3" in /tmp/*) mkdir -p "$3" && mount --bind /mnt/checkout "$3" ;; esac
shift 3
exec "$@"`;
const checkout = fileURLToPath(new URL('../../../..', import.meta.url));

export interface Container extends AsyncDisposable {
  /** Ids of acknowledged rows. */
  rows: number[];
  output(): string;
  /** `up` when it has a server, or the exit code of the process when it ended before. */
  outcome: Promise<'up' | number | null>;
  /** Stops it regularly. */
  leave(): Promise<void>;
  /** Kills every process in it at once. */
  kill(): Promise<void>;
}

/** `path`: the PATH of its processes, to hide programs. */
export const startContainer = (
  host: string,
  dataDir: string,
  { path = process.env['PATH'] ?? '' }: { path?: string } = {},
): Container => {
  const script = fileURLToPath(new URL('./owner.ts', import.meta.url));
  const program = [process.execPath, '--import', import.meta.resolve('tsx'), script, folder, 'write'];
  const env = ['/usr/bin/env', `PATH=${path}`];
  const child: ChildProcess = spawn(
    'unshare',
    [...namespaces, 'sh', '-c', setUp, 'sh', host, dataDir, checkout, ...env, ...program],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const rows: number[] = [];
  let comeUp!: (up: 'up') => void;
  const up = new Promise<'up'>((resolve) => (comeUp = resolve));
  let output = '';
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [kind, number] = line.split(' ');
      if (kind === 'up') comeUp('up');
      else rows.push(Number(number));
    }
  });
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  return {
    rows,
    output: () => output,
    outcome: Promise.race([up, exit]),
    async leave() {
      child.stdin?.end('\n');
      await exit;
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
};

/** Resolves when the container has its server and has written rows. */
export const untilWriting = (container: Container): Promise<void> =>
  eventually(() => {
    if (container.rows.length < 5) throw new Error(`not up: ${container.output()}`);
  }, 60_000);
