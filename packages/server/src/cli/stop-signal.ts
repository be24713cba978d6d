import type { Logger } from '../telemetry/logger.ts';

/** One Ctrl-C arrives twice below `npm start`: from the terminal, and from npm, which passes its own on. */
const sameKeyMs = 500;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves at the first SIGINT or SIGTERM; the second ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const stop = (signal: keyof typeof exitCodes): void => {
      const nowMs = performance.now();
      if (firstAtMs === undefined) {
        firstAtMs = nowMs;
        console.log('\nStopping: runs may finish. A second signal ends them at once.');
        resolve();
      } else if (nowMs - firstAtMs > sameKeyMs) process.exit(exitCodes[signal]);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/** What nobody caught leaves the process in a state nobody knows: log it and go. */
export function exitOnUncaught(logger: Logger): void {
  const fail = (err: unknown): never => {
    logger.fatal({ err }, 'an error was not caught');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
