// The components of a project, bundled in the background when the server starts.
import { pathToFileURL } from 'node:url';
import { notFound, Problem } from '@svc/contract/problem';
import type { UiConfig } from '../../config/project/ui.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { buildUi, type UiBuild, type UiBundle } from './ui-build.ts';

interface UiBundlesOptions {
  dir: string;
  config: UiConfig;
  logger: Logger;
  /** Called with the URL of each file that a build has read. */
  onInput?: ((url: string) => void) | undefined;
  timeoutMs?: number;
  bytesMax?: number;
}

export class UiBundles {
  readonly #builds = new Map<string, Promise<UiBundle | undefined>>();

  /** Starts a build for each agent. A failure is logged; it does not prevent the start of the server. */
  constructor(options: UiBundlesOptions) {
    for (const [agent, file] of options.config.files) this.#builds.set(agent, build(agent, file, options));
  }

  /** Waits for the build. Throws `not_found` for an agent without components, `unavailable` when they cannot be built. */
  async get(agent: string): Promise<UiBundle> {
    const building = this.#builds.get(agent);
    if (building === undefined) throw notFound('UI', agent);
    const bundle = await building;
    if (bundle === undefined)
      throw new Problem('unavailable', `The UI of "${agent}" cannot be built: the log has the reason`);
    return bundle;
  }
}

const build = async (
  agent: string,
  file: string,
  { dir, config: { shared }, logger, onInput, timeoutMs = 60_000, bytesMax = 20_000_000 }: UiBundlesOptions,
): Promise<UiBundle | undefined> => {
  let result: UiBuild;
  try {
    result = await buildUi({ agent, file, dir, shared, timeoutMs, bytesMax });
  } catch (err) {
    logger.error({ err, agent, file }, 'the build of a UI failed');
    return undefined;
  }
  for (const input of result.inputs) onInput?.(pathToFileURL(input).href);
  if ('bundle' in result) return result.bundle;
  logger.error(`UI "${agent}" cannot be built: ${result.failure}`);
  return undefined;
};
