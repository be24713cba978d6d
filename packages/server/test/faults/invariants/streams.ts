// What readers of a stream received, over any number of connections, equals the server's log.
import { isDeepStrictEqual } from 'node:util';
import type { Segment } from '../history.ts';
import type { Checker } from './evidence.ts';

/** No gap, no repetition, one end, and the same for every reader. For streams that were read from their start. */
export const streamsAreComplete: Checker = async ({ history, readLog }) => {
  const wrong: string[] = [];
  const removed = new Set([
    ...history.of('deleted').map((deleted) => deleted.thread_id),
    ...history.of('rolled back').map(({ run_id }) => run_id),
  ]);
  for (const { thread_id, run_id, segments } of history.of('stream')) {
    const report = (what: string): void => void wrong.push(`the stream of run ${run_id} ${what}`);
    const frames = segments.flatMap((segment) => segment.frames);
    const gap = frames.findIndex((frame, index) => frame.id !== String(index));
    if (gap !== -1) report(`continues with ${frames[gap]?.id} instead of ${gap}`);
    checkEnds(segments, report);
    if (removed.has(run_id) || removed.has(thread_id)) continue;
    const log = await readLog(`/threads/${thread_id}/runs/${run_id}/stream`);
    if (!isDeepStrictEqual(frames, log)) report(`has ${frames.length} events, and ${log.length} are kept`);
  }
  return wrong;
};

const checkEnds = (segments: Segment[], report: (what: string) => void): void => {
  const last = segments.at(-1);
  if (last?.end !== 'clean') report('never came to an end');
  const early = segments.slice(0, -1).findIndex((segment) => segment.end === 'clean');
  if (early !== -1) report(`ended ${segments.length - 1 - early} connections too early`);
  const frames = segments.flatMap((segment) => segment.frames);
  const error = frames.findIndex((frame) => frame.event === 'error');
  if (error !== -1 && error !== frames.length - 1) report('continues after an error');
};
