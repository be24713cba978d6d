// PostgreSQL refuses to run as root. As root, svc runs it in a user namespace that maps root to nobody (files keep their owner, so
// this works below /root too). Where user namespaces are not allowed, it runs as the user nobody.
import { spawnSync } from 'node:child_process';

const nobody = 65_534;
const unshare = ['-U', `--map-user=${nobody}`, `--map-group=${nobody}`];

export interface Unprivileged {
  /** Adds a command in front of the program. */
  wrap(program: string, args: string[]): [string, string[]];
  /** Options for spawn. With a uid, the user nobody must be able to access the data and the binaries. */
  ids: { uid?: number; gid?: number };
}

/** As the current user: it is not root, or the system has no users. */
export const ourselves: Unprivileged = { wrap: (program, args) => [program, args], ids: {} };

export const asNobody: Unprivileged = { ...ourselves, ids: { uid: nobody, gid: nobody } };

const inNamespace: Unprivileged = {
  wrap: (program, args) => ['unshare', [...unshare, program, ...args]],
  ids: {},
};

/** Undefined where user namespaces are not allowed, or unshare is missing. */
export const findNamespace = (): Unprivileged | undefined =>
  spawnSync('unshare', [...unshare, 'true']).status === 0 ? inNamespace : undefined;
