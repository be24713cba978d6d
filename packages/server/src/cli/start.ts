import { loadConfig } from '../config/config.ts';
import type { ConfigSources } from '../config/config.ts';
import { createLogger } from '../telemetry/logger.ts';
import { banner } from './banner.ts';
import { exitOnUncaught, stopSignals } from './stop-signal.ts';

/** Serves until a signal comes, then lets the server finish its runs. */
export async function start(sources: ConfigSources): Promise<void> {
  const { settings, project } = loadConfig(sources);
  const { stop, hurry } = stopSignals();
  const logger = createLogger(settings.log);
  exitOnUncaught(logger);
  for (const warning of project.warnings) logger.warn(warning);

  const { startServer } = await import('../server.ts');
  {
    await using server = await startServer({ settings, project, logger });
    console.log(banner(server, { settings, project }));
    await stop;
    await server.drain(hurry);
  }
  // Handles of the user's code must not keep a stopped server alive.
  process.exit(0);
}
