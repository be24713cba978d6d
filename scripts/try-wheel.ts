// npm run test:wheel: installs the wheel of `npm run build:wheel` in an empty environment of Python, without Node in the PATH, and runs a
// project with it. As root, it does so as a user without rights. Packages of Python come from PyPI.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, cp, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { wheelPlatforms, thisPlatform } from './build/wheel-platforms.ts';
import { measureSlowdown, scaled } from '../packages/server/test/speed.ts';

measureSlowdown();

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const wheels = join(root, 'build', 'wheels');

/** The user `nobody`, who may not read the home folder of root. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const scratch = await realpath(await mkdtemp(join(tmpdir(), 'svc wheel ')));
const venv = join(scratch, 'venv');
const bin = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin');
const svc = join(bin, 'svc');

/** The PATH has the programs of the environment alone. pip needs the settings of this machine. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('PIP_'))),
  HOME: scratch,
  PATH: bin,
};

const expect = (text: string, part: string): void => {
  if (!text.includes(part)) throw new Error(`expected ${JSON.stringify(part)} in: ${text}`);
};

const execute = async (file: string, ...args: string[]): Promise<string> => {
  const { stdout } = await run(file, args, { ...user, env, cwd: scratch });
  return stdout.trim();
};

const wheelFile = async (): Promise<string> => {
  const tag = wheelPlatforms[thisPlatform]?.tag;
  const name = (await readdir(wheels)).find((file) => file.endsWith(`-${tag}.whl`));
  if (name === undefined) throw new Error(`build/wheels has no wheel of this system: npm run build:wheel`);
  // The folder of the checkout may be closed to the user.
  await copyFile(join(wheels, name), join(scratch, name));
  await chmod(join(scratch, name), 0o644);
  return join(scratch, name);
};

const install = async (): Promise<void> => {
  const python = process.platform === 'linux' ? '/usr/bin/python3' : 'python3';
  await execute(python, '-m', 'venv', venv);
  await execute(join(bin, 'pip'), 'install', '--quiet', await wheelFile());
};

/** The files of the environment stay as they were installed. */
const setWritable = async (isWritable: boolean): Promise<void> => {
  await run('chmod', ['-R', isWritable ? 'u+w' : 'a-w', venv]);
};

const newProject = async (example: string): Promise<string> => {
  const folder = join(scratch, 'my agent');
  await cp(join(root, 'examples', example), folder, { recursive: true });
  for (const file of ['', ...(await readdir(folder, { recursive: true }))])
    if (user.uid !== undefined) await chown(join(folder, file), user.uid, user.gid);
  return folder;
};

interface Started {
  api: string;
  server: ChildProcess;
  /** What the server has printed until now. */
  output: () => string;
}

const start = async (folder: string, command: string): Promise<Started> => {
  const server = spawn(svc, [command, '--port', '0'], {
    ...user,
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (output += String(data)));
  const deadline = performance.now() + scaled(120_000);
  for (;;) {
    const api = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    if (api !== undefined) return { api, server, output: () => output };
    if (server.exitCode !== null || performance.now() > deadline) break;
    await sleep(50);
  }
  await stop(server);
  throw new Error(`no server: ${output}`);
};

const stop = async (server: ChildProcess): Promise<void> => {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
};

/** Starts the server, asks it, and ends it. Returns the time until it answered. */
const serve = async (
  folder: string,
  command: string,
  ask: (api: string) => Promise<void>,
): Promise<number> => {
  const begun = performance.now();
  const { api, server, output } = await start(folder, command);
  let ms: number;
  try {
    expect(await (await fetch(`${api}/ok`)).text(), 'true');
    ms = Math.round(performance.now() - begun);
    expect(output(), `${join(bin, 'python')}, VIRTUAL_ENV`);
    await ask(api);
  } finally {
    await stop(server);
  }
  if (server.exitCode !== 0) throw new Error(`the server ended with ${server.exitCode ?? server.signalCode}`);
  return ms;
};

const answersTheWeather = async (api: string): Promise<void> => {
  const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
  const response = await fetch(`${api}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'agent', input }),
  });
  expect(await response.text(), 'The weather: snow, -3 °C.');
};

/** The server names what the project still needs. */
const refusesWithoutPackages = async (folder: string): Promise<void> => {
  const options = { ...user, env, cwd: folder, timeout: scaled(60_000) };
  const printed = await run(svc, ['start', '--port', '0'], options).then(
    ({ stdout }) => stdout,
    (error: { stderr: string }) => error.stderr,
  );
  expect(printed, 'langgraph is not installed');
  expect(printed, 'pip install -r requirements.txt');
};

const tryWheel = async (): Promise<void> => {
  await install();
  const { stdout } = await run('du', ['-sm', venv]);
  console.log(`installed: ${Number.parseInt(stdout, 10)} MB, with Node and pip`);
  const version = await execute(svc, '--version');
  expect(await execute(join(bin, 'python'), '-m', 'svc', '--version'), version);
  const folder = await newProject('agent-python');
  await refusesWithoutPackages(folder);
  await execute(join(bin, 'pip'), 'install', '--quiet', '-r', join(folder, 'requirements.txt'));
  await setWritable(false);
  const first = await serve(folder, 'start', answersTheWeather);
  const second = await serve(folder, 'start', answersTheWeather);
  console.log(
    `svc ${version} answers /ok after ${first} ms with a new database, and ${second} ms with an old one`,
  );
  await serve(folder, 'dev', answersTheWeather);
};

try {
  if (user.uid !== undefined) await chown(scratch, user.uid, user.gid);
  await tryWheel();
} finally {
  await setWritable(true).catch(() => undefined); // there is no environment yet
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
}
