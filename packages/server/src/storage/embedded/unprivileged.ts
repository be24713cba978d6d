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

export const findUnprivileged = (): Unprivileged => {
  const plain: Unprivileged = { wrap: (program, args) => [program, args], ids: {} };
  if (process.getuid?.() !== 0) return plain;
  if (spawnSync('unshare', [...unshare, 'true']).status === 0) {
    return { wrap: (program, args) => ['unshare', [...unshare, program, ...args]], ids: {} };
  }
  return { ...plain, ids: { uid: nobody, gid: nobody } };
};
