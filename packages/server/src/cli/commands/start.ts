import { type ConfigSources, loadConfig } from '../../config/config.ts';
import { releaseMemoryWhenIdle } from '../../app/idle-memory.ts';
import { exposeGarbageCollector, optimizeEarly } from '../../app/process-flags.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { banner } from '../output/banner.ts';
import { exitOnUncaught, serveToExit, startOrStop, stopSignals } from '../stop-signal.ts';

/** Serves until a signal arrives, then waits until the runs have ended. */
export async function start(sources: ConfigSources): Promise<void> {
  const { settings, project } = loadConfig(sources);
  const signals = stopSignals();
  const logger = createLogger(settings.log);
  exitOnUncaught(logger);
  for (const warning of project.warnings) logger.warn(warning);

  exposeGarbageCollector();
  await serveToExit(async () => {
    const { startServer } = await import('../../app/server.ts');
    const starting = startServer({ settings, project, logger, signal: signals.stopping });
    await using server = await startOrStop(starting, signals);
    optimizeEarly();
    releaseMemoryWhenIdle();
    console.log(banner(server, { settings, project }, { isTerminal: process.stdout.isTTY }));
    await signals.stop;
    await server.drain(signals.hurry);
  }, signals);
}
