// Behaviour of the servers: their responses, their resources, and whether they served anything.
import { memoryOf, openFilesOf } from '../process-tree.ts';
import type { Checker } from './evidence.ts';

/**
 * A server never returns an internal error or rejects a valid request, except with 503.
 */
export const noUnexpectedErrors: Checker = ({ history }) =>
  Promise.resolve(
    history
      .of('failed')
      .filter(({ status }) => status >= 400 && status !== 503)
      .map(({ what, status, detail }) => `${what} was answered with ${status}: ${detail}`),
  );

/** At most a fifth of the requests may fail. With more failures a scenario shows nothing, even if all invariants hold. */
export const mostRequestsWereServed: Checker = ({ history }) => {
  const served = history.of('run').length + history.of('thread').length + history.of('result').length;
  const failed = history.of('failed').length;
  if (served === 0) return Promise.resolve(['nothing was served']);
  const share = served / (served + failed);
  return Promise.resolve(
    share >= 0.8 ? [] : [`only ${Math.round(share * 100)} % of the requests were served`],
  );
};

export interface ResourceUse {
  openFiles: number;
  /** Bytes. */
  memory: number;
}

export const resourcesOf = (pid: number): ResourceUse => ({
  openFiles: openFilesOf(pid),
  memory: memoryOf(pid),
});

/** Resources that a process holds after a load and did not hold before; a few pooled connections are no leak. */
export const leaks = (
  name: string,
  before: ResourceUse,
  after: ResourceUse,
  memoryMax = 64 * 1024 ** 2,
): string[] => [
  ...(after.openFiles > before.openFiles + 15
    ? [`${name} has ${after.openFiles - before.openFiles} more files and sockets open than before`]
    : []),
  ...(after.memory > before.memory * 1.1 + memoryMax
    ? [`${name} holds ${Math.round((after.memory - before.memory) / 1024 ** 2)} MB more than before`]
    : []),
];
