// A sender in a process of its own, so that a test can kill it.
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { openSender } from './queue.ts';

const [, , options = '{}', leaseMs = '1000'] = process.argv;
const database = await openDatabase(JSON.parse(options) as Parameters<typeof openDatabase>[0]);
openSender(database, { timeoutMs: 60_000, leaseMs: Number(leaseMs) });
