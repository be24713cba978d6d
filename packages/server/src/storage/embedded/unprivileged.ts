// PostgreSQL refuses to run as root. As root we run it in a user namespace in which we are nobody (files stay
// ours, so this works below /root too), or, where namespaces are forbidden, as the user nobody itself.
import { spawnSync } from 'node:child_process';

const nobody = 65_534;
const unshare = ['-U', `--map-user=${nobody}`, `--map-group=${nobody}`];

export interface Unprivileged {
  /** Command and arguments in front of the program's own. */
  wrap(program: string, args: string[]): [string, string[]];
  /** For spawn; data and binaries must then be within nobody's reach. */
  ids: { uid?: number; gid?: number };
}

/** As we are: not root, or on a system without users. */
export const ourselves: Unprivileged = { wrap: (program, args) => [program, args], ids: {} };

export const asNobody: Unprivileged = { ...ourselves, ids: { uid: nobody, gid: nobody } };

const inNamespace: Unprivileged = {
  wrap: (program, args) => ['unshare', [...unshare, program, ...args]],
  ids: {},
};

/** Undefined where this system forbids user namespaces, or has no unshare. */
export const findNamespace = (): Unprivileged | undefined =>
  spawnSync('unshare', [...unshare, 'true']).status === 0 ? inNamespace : undefined;
