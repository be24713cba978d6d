// The version of Node. bin/svc.js refuses older ones too, before it loads anything.
import { ok, type Outcome, problem, warning } from './finding.ts';

const oldest = { major: 20, minor: 19 };
/** Node 20 gets no more security updates. https://github.com/nodejs/release#release-schedule */
const endOfLife = { major: 20, on: '2026-04-30' };

export const checkNode = (version: string): Outcome => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < oldest.major || (major === oldest.major && minor < oldest.minor))
    return problem(
      `Node.js ${version} is too old: svc needs ${oldest.major}.${oldest.minor} or newer.`,
      'Install Node.js 24.',
    );
  if (major <= endOfLife.major)
    return warning(
      `Node.js ${version} works, but it gets no security updates since ${endOfLife.on}.`,
      'Install Node.js 24, with which graphs also run faster.',
    );
  return ok(`Node.js ${version} is supported.`);
};
