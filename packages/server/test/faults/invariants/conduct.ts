// How the servers behaved: what they answered, what they hold on to, and whether they got anything done.
import { memoryOf, openFilesOf } from '../process-tree.ts';
import type { Checker } from './evidence.ts';

/**
 * Whatever happens to a server, it never tells a client that it does not understand itself, nor refuses what it should
 * do: it does it, or cannot at the moment.
 */
export const nobodyWasToldNonsense: Checker = ({ history }) =>
  Promise.resolve(
    history
      .of('failed')
      .filter(({ status }) => status >= 400 && status !== 503)
      .map(({ what, status, detail }) => `${what} was answered with ${status}: ${detail}`),
  );

/** Of all that clients asked for, a fifth may fail. With less the scenario shows nothing, whatever held in it. */
export const mostRequestsWereServed: Checker = ({ history }) => {
  const served = history.of('run').length + history.of('thread').length + history.of('result').length;
  const failed = history.of('failed').length;
  if (served === 0) return Promise.resolve(['nothing was served']);
  const share = served / (served + failed);
  return Promise.resolve(
    share >= 0.8 ? [] : [`only ${Math.round(share * 100)} % of the requests were served`],
  );
};

export interface Holding {
  openFiles: number;
  /** Bytes. */
  memory: number;
}

export const holdingOf = (pid: number): Holding => ({ openFiles: openFilesOf(pid), memory: memoryOf(pid) });

/** What a process holds after a load that it did not hold before; a few pooled connections are no leak. */
export const leaks = (
  name: string,
  before: Holding,
  after: Holding,
  memoryMax = 64 * 1024 ** 2,
): string[] => [
  ...(after.openFiles > before.openFiles + 15
    ? [`${name} has ${after.openFiles - before.openFiles} more files and sockets open than before`]
    : []),
  ...(after.memory > before.memory * 1.1 + memoryMax
    ? [`${name} holds ${Math.round((after.memory - before.memory) / 1024 ** 2)} MB more than before`]
    : []),
];
