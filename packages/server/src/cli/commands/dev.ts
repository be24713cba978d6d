import { relative } from 'node:path';
import { loadConfig } from '../../config/config.ts';
import type { Config, ConfigSources } from '../../config/config.ts';
import { ConfigError } from '../../config/project/mistake.ts';
import type { RunningServer } from '../../app/server.ts';
import { releaseMemoryWhenIdle } from '../../app/idle-memory.ts';
import { createLogger } from '../../telemetry/logger.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { banner } from '../output/banner.ts';
import { explain } from '../output/explain.ts';
import { RetiredServers } from '../retired-servers.ts';
import { isStop, serveToExit, startOrStop } from '../serving.ts';
import { exitOnUncaught, type StopSignals, stopSignals } from '../stop-signal.ts';
import { openWatcher, type Watcher } from '../watcher.ts';

/** Serves, and restarts after every change. After a change that breaks the configuration, the old server continues. */
export async function dev(given: ConfigSources): Promise<void> {
  const sources = { ...given, develops: true };
  const config = loadConfig(sources);
  const signals = stopSignals();
  const logger = createLogger(config.settings.log);
  exitOnUncaught(logger);
  releaseMemoryWhenIdle();
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
  await using retired = new RetiredServers(signals.stopping, logger);
  await using _last = { [Symbol.asyncDispose]: async () => server?.[Symbol.asyncDispose]() };
  const serveAll = async (): Promise<RunningServer> => {
    const starting = startOrStop(serve(config, { logger, watcher, signal: signals.stopping }), signals);
    [server] = await Promise.all([starting, watcher.add(filesOf(config))]);
    return server;
  };
  console.log(banner(await serveAll(), config, { isTerminal: process.stdout.isTTY }));

  for (;;) {
    const changed = await Promise.race([watcher.next(), signals.stop]);
    if (changed === undefined) return;
    console.log(`\nChanged: ${changed.map((path) => relative(sources.cwd, path) || path).join(', ')}`);
    try {
      const next = loadConfig(sources);
      const old = server;
      server = undefined;
      if (old) await retired.add(old, config.settings.runs.shutdownGraceMs);
      config = next;
      const { graphs, url } = await serveAll();
      console.log(`Serving ${graphs.join(', ')} at ${url}`);
    } catch (error) {
      if (isStop(error, signals.stopping)) return;
      console.error(explain(error));
      if (error instanceof ConfigError) await watcher.add(missingFiles(error));
      const still = server === undefined ? 'No server runs' : 'The previous server still runs';
      console.error(`${still}; waiting for the next change.`);
      // The stack of a mistake in the configuration is of no use.
      if (!(error instanceof ConfigError)) logger.debug({ err: error }, 'the restart failed');
    }
  }
}

async function serve(
  { settings, project }: Config,
  { logger, watcher, signal }: { logger: Logger; watcher: Watcher; signal: AbortSignal },
): Promise<RunningServer> {
  for (const warning of project.warnings) logger.warn(warning);
  const { startServer } = await import('../../app/server.ts');
  const onModules = (files: string[]): void => {
    watcher.add(files).catch((err: unknown) => logger.warn({ err, files }, 'files cannot be watched'));
  };
  return startServer({ settings, project, logger, signal, onModules });
}

/** The files that are read at a start. The processes report the modules that these import. */
function filesOf({ project }: Config): string[] {
  const { graphs, auth, customApp, ui, storeIndex } = project;
  const loaded = [auth, customApp].flatMap((config) => (config ? [config.source] : []));
  const embed = storeIndex && 'file' in storeIndex.embed ? [storeIndex.embed] : [];
  const sources = [...graphs.values(), ...loaded, ...embed];
  const env = project.envFile === undefined ? [] : [project.envFile];
  return [project.file, ...env, ...ui.files.values(), ...sources.map(({ file }) => file)];
}

/** The files whose creation would correct a mistake. */
const missingFiles = ({ mistakes }: ConfigError): string[] =>
  mistakes.flatMap(({ missingFile }) => (missingFile === undefined ? [] : [missingFile]));
