// Command lines that share a process. The start of a process needs much more CPU than most commands.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { svcCommand } from '../svc-command.ts';
import type { CommandLine, Ended } from './session-program.ts';

export interface CommandSession extends AsyncDisposable {
  /** Executes a command line with a minimal environment instead of this process's, after those before it. */
  run(args: string[], options: { cwd: string; env?: Record<string, string> }): Promise<Ended>;
}

/** `mainModule` exports the function `main` of a program, which sets the exit code. */
export const openSession = async (mainModule: URL): Promise<CommandSession> => {
  const script = fileURLToPath(new URL('./session-program.ts', import.meta.url));
  const minimal = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = fork(script, [mainModule.href], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: minimal,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let leaked = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (leaked += String(chunk)));
  const ended = once(child, 'exit');
  /** The next message of the process. */
  const answer = async (): Promise<unknown> => {
    const closed = ended.then(([code]) =>
      Promise.reject(new Error(`the session ended (${code}): ${leaked}`)),
    );
    const [message] = (await Promise.race([once(child, 'message'), closed])) as [unknown];
    return message;
  };
  let last: Promise<unknown> = answer();
  await last;
  return {
    run(args, { cwd, env = {} }) {
      const line: CommandLine = { args, cwd, env: { ...minimal, ...env } };
      const result = last.then(() => {
        child.send(line);
        return answer() as Promise<Ended>;
      });
      last = result.catch(() => undefined);
      return result;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};

/** A session of `svc`, from the sources or as built, like `runCli()`. */
export const openSvcSession = (): Promise<CommandSession> => {
  const command = pathToFileURL(svcCommand);
  const source = new URL('../src/cli/main.ts', command);
  return openSession(existsSync(source) ? source : new URL('../dist/cli/main.js', command));
};
