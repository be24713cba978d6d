// Where the parts of an embedded PostgreSQL are. All is in the data directory, save where root must run it as
// the user nobody, who reaches nothing below a private directory: then `postgres` there is a link to the data.
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readlink, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { openAccess, type Access } from './access.ts';
import { findBinaries, type Binaries } from './binaries.ts';
import { asNobody, findNamespace, ourselves, type Unprivileged } from './unprivileged.ts';

export interface Home {
  data: string;
  /** Who uses the server: a file with the identity of each. */
  attached: string;
  lock: string;
  /** Says which machine or container has the folder. */
  owner: string;
  /** Locked by every process of the server. */
  claim: string;
  log: string;
  /** A directory that is made for the socket alone, where the path to the data is too long for one. */
  socketDir: string | undefined;
  binaries: Binaries;
  access: Access;
  unprivileged: Unprivileged;
  /** That a server which is started allows. */
  connectionsMax: number;
}

/** Bytes; the address of a Unix socket holds 107, on macOS 103, and PostgreSQL adds `/.s.PGSQL.5432`. */
const socketPathMax = 85;
const sharedDir = '/var/lib/svc';
const connectionsMin = 100;
/** Of one machine, on one data folder. */
const nodesPerServer = 3;

/** `connections`: that a server is wanted for. */
export const openHome = async (given: string, connections = 0): Promise<Home> => {
  const dataDir = resolve(given);
  const attached = join(dataDir, 'attached');
  await mkdir(attached, { recursive: true, mode: 0o700 });
  const unprivileged = await choose(dataDir);
  const isNobody = unprivileged === asNobody;
  const root = isNobody ? await openSharedRoot(dataDir) : dataDir;
  const socketDir = Buffer.byteLength(root) > socketPathMax ? await openSocketDir(root) : undefined;
  return {
    data: join(root, 'postgres'),
    attached,
    lock: join(dataDir, 'postgres.lock'),
    owner: join(dataDir, 'postgres.owner'),
    claim: join(root, 'postgres.claim'),
    log: join(root, 'postgres.log'),
    socketDir,
    binaries: await findBinaries(isNobody ? sharedDir : dataDir, { mustCopy: isNobody }),
    access: await openAccess(dataDir, socketDir ?? root),
    unprivileged,
    connectionsMax: Math.max(connectionsMin, connections * nodesPerServer),
  };
};

/** Data that is there decides: what one way has written the other cannot read. */
const choose = async (dataDir: string): Promise<Unprivileged> => {
  if (process.getuid?.() !== 0) return ourselves;
  const data = await lstat(join(dataDir, 'postgres')).catch(() => undefined);
  if (data?.isSymbolicLink()) return asNobody;
  const namespace = findNamespace();
  if (namespace) return namespace;
  if (data === undefined) return asNobody;
  throw new Problem(
    'unavailable',
    `${join(dataDir, 'postgres')} was made where user namespaces are allowed, and root has none here: allow them, ` +
      'or give the directory to another user and start svc as that user, or set DATABASE_URI',
  );
};

const openSharedRoot = async (dataDir: string): Promise<string> => {
  const link = join(dataDir, 'postgres');
  const linked = await readlink(link).catch(() => undefined);
  const root = linked === undefined ? join(sharedDir, shortHash(dataDir)) : dirname(linked);
  try {
    await mkdir(root, { recursive: true });
    await chmod(sharedDir, 0o755); // whatever the umask: nobody has to pass
    await chmod(root, 0o700);
    await chown(root, asNobody.ids.uid ?? -1, asNobody.ids.gid ?? -1);
    if (linked === undefined) await symlink(join(root, 'postgres'), link).catch(ifNotThere);
    return root;
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `PostgreSQL does not run as root. User namespaces are forbidden here, and ${root} cannot be made for the user ` +
        `nobody (${(cause as Error).message}): start svc as another user, or set DATABASE_URI`,
      { cause },
    );
  }
};

/** In /tmp, whatever TMPDIR says: all who share the data must find the same. */
const openSocketDir = async (root: string): Promise<string> => {
  const uid = process.getuid?.() ?? 0;
  const dir = join('/tmp', `svc-${uid}-${shortHash(root)}`);
  await mkdir(dir, { mode: 0o700 }).catch(ifNotThere);
  // Anybody may write to /tmp, and could have put a server of theirs there.
  const found = await lstat(dir);
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return dir;
  throw new Problem(
    'unavailable',
    `${dir}, the place for the socket of PostgreSQL, belongs to someone else or is open to others: remove it, ` +
      'or choose a shorter data directory',
  );
};

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Another process may have made the same a moment ago. */
const ifNotThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
