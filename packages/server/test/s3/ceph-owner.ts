// Runs a Ceph until it is killed, to test what remains then.
import { openCeph } from './ceph.ts';

const { access, pids } = await openCeph();
process.stdout.write(`${JSON.stringify({ access, pids })}\n`);
await new Promise(() => undefined);
