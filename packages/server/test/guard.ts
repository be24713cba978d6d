// Holds the PostgreSQL of a test run, and outlives the run by a moment: when the pipe to its standard input
// ends, however the run did, it stops every server that has its data below the folder, ends the process groups that
// are noted in it, and removes the folder. Tests that need an S3 get it here, too.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '../src/storage/embedded/embedded.ts';
import { openGatewayDoor } from './s3/gateway-door.ts';

const [folder = '', mode] = process.argv.slice(2);

/** Servers that an interrupted test has left. */
const stopServersBelow = async (dir: string): Promise<void> => {
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    if (entry.name === 'postgres') await stopServer(join(dir, entry.name));
    else if (entry.isDirectory()) await stopServersBelow(join(dir, entry.name));
  }
};

const stopServer = async (data: string): Promise<void> => {
  const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid) return;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  // The pid may be somebody else's by now; without /proc the server is left rather than the wrong one killed.
  if (command.includes('postgres')) process.kill(pid, 'SIGKILL');
};

/** Of svc processes that an interrupted test has left: files named after the pids of their leaders. */
const endGroups = async (dir: string): Promise<void> => {
  for (const name of await readdir(dir).catch(() => [])) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('svc.js')) process.kill(-Number(name), 'SIGKILL');
  }
};

const ended = new Promise<void>((resolve) => process.stdin.once('close', resolve).resume());
const embedded = mode === 'embedded' ? await openEmbedded({ dataDir: join(folder, 'main') }) : undefined;
const gatewayDoor = await openGatewayDoor();
process.stdout.write(
  `${JSON.stringify({ connection: embedded?.connection ?? {}, gatewayDoor: gatewayDoor.url })}\n`,
);
await ended;
await gatewayDoor[Symbol.asyncDispose]();
await endGroups(join(folder, 'groups'));
await embedded?.[Symbol.asyncDispose]();
await stopServersBelow(folder);
await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
