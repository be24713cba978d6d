// Owns a Ceph until it is killed, for a test of what is left then.
import { openCeph } from './ceph.ts';

const { access, pids } = await openCeph();
process.stdout.write(`${JSON.stringify({ access, pids })}\n`);
await new Promise(() => undefined);
