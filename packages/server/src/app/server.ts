// Starts a whole server (database, services, HTTP), and stops it in reverse order.
import type { Logger } from 'pino';
import { unlessAborted } from '../abort.ts';
import { exposureOf } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import { announce } from '../http/server/address-file.ts';
import { assertBindable } from '../http/server/listen.ts';
import type { FirstKey } from '../auth/keys/bootstrap.ts';
import { type Owned, owning } from './owned.ts';
import { mountPrefix, pageGuard } from './mount-prefix.ts';
import { startEarlyParts } from './early-parts.ts';
import type { ServedAppOptions } from './served-app.ts';
import { explainData } from './explain-data.ts';

export type ServerOptions = Omit<ServedAppOptions, 'authenticate'>;

export interface RunningServer extends AsyncDisposable {
  /**
   * Lets another server use the same port and database: stops listening, and gives the runs back so that the other server continues
   * them. Open responses stay open and follow their runs. Resolves when no run is executed here.
   */
  handOver(): Promise<{ responsesEnded: Promise<void> }>;
  url: string;
  graphs: string[];
  /** The first key of the platform API, if this start has created it. */
  firstKey: FirstKey | undefined;
  /**
   * Claims no more runs, and reports that at /ready. Resolves when all runs here have ended, the grace period is over, or `hurry` is
   * aborted. Remaining runs are given back when the server is disposed.
   */
  drain(hurry: AbortSignal): Promise<void>;
}

/** Starts everything, from the database to the listening socket. When a part fails, the parts before it are closed. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  try {
    return await owning((owned) => build(options, owned));
  } catch (error) {
    throw await explainData(error, options.settings);
  }
};

const build = async (
  options: ServerOptions,
  owned: Owned,
): Promise<Omit<RunningServer, keyof AsyncDisposable>> => {
  const { settings, project, logger } = options;
  const exposure = exposureOf(settings, project);
  const { mode, warnings } = exposure;
  for (const warning of [...warnings, ...settings.telemetry.warnings]) logger.warn(warning);
  await assertBindable(settings.http.host, settings.http.port);
  const early = startEarlyParts(options, owned);
  // Imported here: half of a start is loading these modules, and PostgreSQL and the executors start meanwhile.
  const modules = Promise.all([
    import('./served-app.ts'),
    import('../http/server/listen.ts'),
    import('../http/server/request-guard.ts'),
  ]);
  const [{ openServedApp }, { listen, reachableUrl }, { localHosts }] = await unlessAborted(
    modules,
    options.signal,
  );
  const { app, upgrades, streams, services } = await openServedApp(options, exposure, early, owned);
  const { host, port } = settings.http;
  const hosts = mode.kind === 'anonymous' && mode.local ? localHosts(host) : undefined;
  const guard = { ...pageGuard(options, exposure), hosts };
  const listener = await listen(app, { host, port, logger, guard, upgrades, streams });
  owned.keep({ [Symbol.asyncDispose]: () => listener.close() });
  owned.keep(services.runChanges);
  const url = listener.url + mountPrefix(options);
  if (settings.role !== 'worker') owned.keep(await announced(url, settings, logger));
  services.setAddress(settings.role === 'worker' ? null : reachableUrl(url));
  options.signal?.throwIfAborted();
  return {
    url,
    graphs: [...project.graphs.keys()],
    firstKey: services.firstKey,
    handOver: async () => {
      const responsesEnded = listener.stop();
      await services.handOver();
      return { responsesEnded };
    },
    drain: (hurry) => services.drain(settings.runs.shutdownGraceMs, hurry),
  };
};

/** A data folder that is not writable does not prevent the start. */
const announced = async (url: string, { storage }: Settings, logger: Logger): Promise<AsyncDisposable> => {
  try {
    return await announce(storage.dataDir, url);
  } catch (err) {
    logger.warn({ err }, 'failed to write the address of the server; pass --url to commands on this machine');
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
};
