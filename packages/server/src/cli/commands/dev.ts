import { dirname, relative } from 'node:path';
import { loadConfig } from '../../config/config.ts';
import type { Config, ConfigSources } from '../../config/config.ts';
import { ConfigError } from '../../config/project/mistake.ts';
import type { RunningServer } from '../../app/server.ts';
import { createLogger } from '../../telemetry/logger.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { banner } from '../output/banner.ts';
import { explain } from '../output/explain.ts';
import { isStop, serveToExit, startOrStop } from '../serving.ts';
import { exitOnUncaught, type StopSignals, stopSignals } from '../stop-signal.ts';
import { openWatcher } from '../watcher.ts';

/** Serves, and again after every change; a change that breaks the config leaves what was served before. */
export async function dev(given: ConfigSources): Promise<void> {
  const sources = { ...given, develops: true };
  const config = loadConfig(sources);
  const signals = stopSignals();
  const logger = createLogger(config.settings.log);
  exitOnUncaught(logger);
  await serveToExit(() => serveChanges(sources, config, { signals, logger }), signals);
}

async function serveChanges(
  sources: ConfigSources,
  first: Config,
  { signals, logger }: { signals: StopSignals; logger: Logger },
): Promise<void> {
  let config = first;
  let server: RunningServer | undefined;
  await using watcher = openWatcher();
  await using _last = { [Symbol.asyncDispose]: async () => server?.[Symbol.asyncDispose]() };
  const serveAll = async (): Promise<RunningServer> => {
    const starting = startOrStop(serve(config, logger, signals.stopping), signals);
    [server] = await Promise.all([starting, watcher.add(toWatched(config))]);
    return server;
  };
  console.log(banner(await serveAll(), config, { isTerminal: process.stdout.isTTY }));

  for (;;) {
    const changed = await Promise.race([watcher.next(), signals.stop]);
    if (changed === undefined) return;
    console.log(`\nChanged: ${changed.map((path) => relative(sources.cwd, path) || path).join(', ')}`);
    try {
      config = loadConfig(sources);
      await server?.[Symbol.asyncDispose]();
      server = undefined;
      const { graphs, url } = await serveAll();
      console.log(`Serving ${graphs.join(', ')} at ${url}`);
    } catch (error) {
      if (isStop(error, signals.stopping)) return;
      console.error(explain(error));
      const still = server === undefined ? 'Nothing is served' : 'What was served before still is';
      console.error(`${still}; waiting for the next change.`);
      // Anything but a mistake of the user deserves its stack.
      if (!(error instanceof ConfigError)) logger.debug({ err: error }, 'the restart failed');
    }
  }
}

async function serve(
  { settings, project }: Config,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningServer> {
  for (const warning of project.warnings) logger.warn(warning);
  const { startServer } = await import('../../app/server.ts');
  return startServer({ settings, project, logger, signal });
}

function toWatched({ project, settings }: Config): Parameters<ReturnType<typeof openWatcher>['add']>[0] {
  const sources = [...project.graphs.values(), ...(project.auth ? [project.auth.source] : [])];
  const codeFolders = sources.map(({ file }) => dirname(file));
  return {
    folders: [...new Set([project.dir, ...codeFolders])],
    files: [project.file, ...(project.envFile === undefined ? [] : [project.envFile])],
    dataDir: settings.storage.dataDir,
  };
}
