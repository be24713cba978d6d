// Runs the PostgreSQL of a test run and outlives the run by a moment: when the pipe to its standard input ends, for any reason, it stops
// every server with data below the folder, kills the process groups listed in it, and deletes the folder. It also starts the S3 of the test
// run on request.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '../src/storage/embedded/embedded.ts';
import { openGatewayServer } from './s3/gateway-server.ts';
import { stopPostgres } from './stop-postgres.ts';

const [folder = '', mode] = process.argv.slice(2);

/** Stops servers that an interrupted test has left. */
const stopServersBelow = async (dir: string): Promise<void> => {
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    if (entry.name === 'postgres') await stopPostgres(join(dir, entry.name));
    else if (entry.isDirectory()) await stopServersBelow(join(dir, entry.name));
  }
};

/** Kills svc processes that an interrupted test has left. The names of the files are the pids of their group leaders. */
const endGroups = async (dir: string): Promise<void> => {
  for (const name of await readdir(dir).catch(() => [])) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('svc.js')) process.kill(-Number(name), 'SIGKILL');
  }
};

const ended = new Promise<void>((resolve) => process.stdin.once('close', resolve).resume());
/** The servers of several test files have their connections at the same time. */
const connections = 100;
const embedded =
  mode === 'embedded' ? await openEmbedded({ dataDir: join(folder, 'main'), connections }) : undefined;
const gatewayServer = await openGatewayServer();
process.stdout.write(
  `${JSON.stringify({ connection: embedded?.connection ?? {}, gatewayUrl: gatewayServer.url })}\n`,
);
await ended;
await gatewayServer[Symbol.asyncDispose]();
await endGroups(join(folder, 'groups'));
await embedded?.[Symbol.asyncDispose]();
await stopServersBelow(folder);
await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
