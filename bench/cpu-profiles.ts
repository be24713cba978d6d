// CPU profiles by stage: the time in each folder of the server, each package, and Node itself.
import { readFileSync } from 'node:fs';

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  /** Microseconds since the sample before. */
  timeDeltas: number[];
}

const idle = new Set(['(idle)', '(root)']);

/** The name of a stage: a folder of the server's sources, a package, or a part of Node. */
const stageOf = ({ functionName, url }: { functionName: string; url: string }): string => {
  const own = /packages\/server\/src\/((?:[^/]+\/){0,2})/.exec(url);
  if (own) return own[1]?.replace(/\/$/, '') || 'src';
  const package_ = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  if (package_) return package_[1] ?? '';
  if (url.includes('packages/contract')) return 'contract';
  if (url.startsWith('node:')) return url.split('/')[0] ?? '';
  return url === '' ? functionName : 'other';
};

export interface Stage {
  stage: string;
  /** Milliseconds of CPU. */
  ms: number;
}

/** The largest first. */
export const stagesOf = (file: string): Stage[] => {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || idle.has(frame.functionName)) continue;
    const stage = stageOf(frame);
    sums.set(stage, (sums.get(stage) ?? 0) + (timeDeltas[at] ?? 0) / 1_000);
  }
  return [...sums].map(([stage, ms]) => ({ stage, ms })).toSorted((a, b) => b.ms - a.ms);
};
