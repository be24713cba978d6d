// The paths of the embedded PostgreSQL. Everything is in the data directory, with one exception: when root must run PostgreSQL as the
// user nobody, who cannot enter private directories, `postgres` in the data directory is a link to the data.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readlink, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { openServerAddress } from './server-address.ts';
import { findBinaries } from './binaries.ts';

/** Bytes; the address of a Unix socket holds 107, on macOS 103, and PostgreSQL adds `/.s.PGSQL.5432`. */
const socketPathMax = 85;
const sharedDir = '/var/lib/svc';
const connectionsMin = 100;
/** svc processes that may share one server. */
const nodesPerServer = 3;

/** `connections`: the number that this process needs. */
export const openHome = async (given: string, connections = 0) => {
  const dataDir = resolve(given);
  const attached = join(dataDir, 'attached');
  await mkdir(attached, { recursive: true, mode: 0o700 });
  const unprivileged = await choose(dataDir);
  const isNobody = unprivileged === asNobody;
  const root = isNobody ? await openSharedRoot(dataDir) : dataDir;
  const socketDir = Buffer.byteLength(root) > socketPathMax ? await openSocketDir(root) : undefined;
  return {
    data: join(root, 'postgres'),
    /** Folder with one file per attached process: the process's identity. */
    attached,
    lock: join(dataDir, 'postgres.lock'),
    /** File that names the machine or container that owns the folder. */
    owner: join(dataDir, 'postgres.owner'),
    /** File on which all processes of the server hold a kernel lock. */
    lockFile: join(root, 'postgres.claim'),
    log: join(root, 'postgres.log'),
    /** A separate directory for the socket, when the path of the data is too long for one. */
    socketDir,
    binaries: await findBinaries(isNobody ? sharedDir : dataDir, { mustCopy: isNobody }),
    address: await openServerAddress(dataDir, socketDir ?? root),
    unprivileged,
    /** max_connections of a server that is started now. */
    connectionsMax: Math.max(connectionsMin, connections * nodesPerServer),
  };
};

export type Home = Awaited<ReturnType<typeof openHome>>;

/** Existing data decides, because each way writes files that the other cannot read. */
const choose = async (dataDir: string): Promise<Unprivileged> => {
  if (process.getuid?.() !== 0) return ourselves;
  const data = await lstat(join(dataDir, 'postgres')).catch(() => undefined);
  if (data?.isSymbolicLink()) return asNobody;
  const namespace = findNamespace();
  if (namespace) return namespace;
  if (data === undefined) return asNobody;
  throw new Problem(
    'unavailable',
    `${join(dataDir, 'postgres')} was created with user namespaces, and they are not available here: allow them, ` +
      'or give the directory to another user and start svc as that user, or set DATABASE_URI',
  );
};

const openSharedRoot = async (dataDir: string): Promise<string> => {
  const link = join(dataDir, 'postgres');
  const linked = await readlink(link).catch(() => undefined);
  const root = linked === undefined ? join(sharedDir, shortHash(dataDir)) : dirname(linked);
  try {
    await mkdir(root, { recursive: true });
    await chmod(sharedDir, 0o755); // independent of the umask: the user nobody must be able to enter
    await chmod(root, 0o700);
    await chown(root, asNobody.ids.uid ?? -1, asNobody.ids.gid ?? -1);
    if (linked === undefined) await symlink(join(root, 'postgres'), link).catch(ifNotThere);
    return root;
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `PostgreSQL does not run as root. User namespaces are not allowed here, and ${root} cannot be created for the user ` +
        `nobody (${(cause as Error).message}): start svc as another user, or set DATABASE_URI`,
      { cause },
    );
  }
};

/** In /tmp, independent of TMPDIR, so that all processes that share the data find the same socket. */
const openSocketDir = async (root: string): Promise<string> => {
  const uid = process.getuid?.() ?? 0;
  const dir = join('/tmp', `svc-${uid}-${shortHash(root)}`);
  await mkdir(dir, { mode: 0o700 }).catch(ifNotThere);
  // Everybody may write to /tmp, so the directory may belong to another user, who could run a server of their own there.
  const found = await lstat(dir);
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return dir;
  throw new Problem(
    'unavailable',
    `${dir}, the directory for PostgreSQL's socket, belongs to another user or is accessible to others: remove it, ` +
      'or choose a shorter data directory',
  );
};

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Ignores EEXIST: another process may have created the same file or directory at the same time. */
const ifNotThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

// PostgreSQL refuses to run as root. As root, svc runs it in a user namespace that maps root to nobody (files keep their owner, so
// this works below /root too). Where user namespaces are not allowed, it runs as the user nobody.
const nobody = 65_534;
const unshare = ['-U', `--map-user=${nobody}`, `--map-group=${nobody}`];

interface Unprivileged {
  /** Adds a command in front of the program. */
  wrap(program: string, args: string[]): [string, string[]];
  /** Options for spawn. With a uid, the user nobody must be able to access the data and the binaries. */
  ids: { uid?: number; gid?: number };
}

/** As the current user: it is not root, or the system has no users. */
const ourselves: Unprivileged = { wrap: (program, args) => [program, args], ids: {} };

const asNobody: Unprivileged = { ...ourselves, ids: { uid: nobody, gid: nobody } };

const inNamespace: Unprivileged = {
  wrap: (program, args) => ['unshare', [...unshare, program, ...args]],
  ids: {},
};

/** Undefined where user namespaces are not allowed, or unshare is missing. */
const findNamespace = (): Unprivileged | undefined =>
  spawnSync('unshare', [...unshare, 'true']).status === 0 ? inNamespace : undefined;
