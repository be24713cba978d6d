import { dirname, relative } from 'node:path';
import { type Config, type ConfigSources, loadConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/project/mistake.ts';
import type { RunningServer } from '../../app/server.ts';
import { releaseMemoryWhenIdle } from '../../app/idle-memory.ts';
import { createLogger, type Logger } from '../../telemetry/logger.ts';
import { banner } from '../output/banner.ts';
import { explain } from '../output/explain.ts';
import {
  exitOnUncaught,
  isStop,
  serveToExit,
  startOrStop,
  stopSignals,
  type StopSignals,
} from '../stop-signal.ts';
import { settledWithin } from '../../backoff.ts';
import { existsSync } from 'node:fs';
import { type FSWatcher, watch } from 'chokidar';

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

// Servers that `svc dev` has replaced and that still have open responses.

export class RetiredServers implements AsyncDisposable {
  readonly #stopping: AbortSignal;
  readonly #logger: Logger;
  readonly #closing = new Set<Promise<void>>();

  /** Closes all servers when `stopping` is aborted. */
  constructor(stopping: AbortSignal, logger: Logger) {
    this.#stopping = stopping;
    this.#logger = logger;
  }

  /**
   * Resolves when the server has handed its runs over, or is closed. The server is closed when its responses have ended, and after
   * `graceMs` at the latest.
   */
  async add(server: RunningServer, graceMs: number): Promise<void> {
    const handedOver = server.handOver();
    const closing = this.#close(server, handedOver, graceMs).catch((err: unknown) =>
      this.#logger.error({ err }, 'a replaced server could not be closed'),
    );
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
    await Promise.race([handedOver, closing]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #close(
    server: RunningServer,
    handedOver: ReturnType<RunningServer['handOver']>,
    graceMs: number,
  ): Promise<void> {
    await using _closed = server;
    const responsesEnded = handedOver.then((rest) => rest.responsesEnded);
    await settledWithin(responsesEnded, graceMs, this.#stopping);
  }
}

// Reports changes of files to `svc dev`, in batches: an editor that saves three files causes one restart.

const debounceMs = 100;

export interface Watcher extends AsyncDisposable {
  /** Watches these files too, also those that do not exist yet. Resolves when their changes are noticed. */
  add(files: Iterable<string>): Promise<void>;
  /** Resolves with the next batch of changed files. Batches wait for their reader. */
  next(): Promise<string[]>;
}

export function openWatcher(): Watcher {
  const watched = new Set<string>();
  const watchers: FSWatcher[] = [];
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let wake: (() => void) | undefined;

  const onChange = (path: string): void => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      wake?.();
    }, debounceMs);
  };

  return {
    async add(files) {
      const added = [...files].filter((file) => !watched.has(file));
      if (added.length === 0) return;
      for (const file of added) watched.add(file);
      // The creation of a file is seen by a watcher of its folder.
      const missing = added.filter((file) => !existsSync(file));
      const paths = new Set(added.map((file) => (missing.includes(file) ? dirname(file) : file)));
      const ignored = (path: string): boolean => !watched.has(path) && !paths.has(path);
      // One watcher for each call, because chokidar emits "ready" once.
      const watcher = watch([...paths], { ignoreInitial: true, depth: 0, ignored });
      watchers.push(watcher);
      watcher.on('all', (_event, path) => {
        if (watched.has(path)) onChange(path);
      });
      await new Promise<void>((resolve) => {
        watcher.once('ready', resolve);
      });
      // Created before the watcher was ready.
      for (const file of missing) if (existsSync(file)) onChange(file);
    },
    async next() {
      while (changed.size === 0 || timer !== undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const batch = [...changed];
      changed.clear();
      return batch;
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}
