import type { TelemetrySettings } from '../config/settings/telemetry-settings.ts';
import type { ServerTelemetry, TelemetrySources } from './server-telemetry.ts';

/** Loads the SDK of OpenTelemetry only when something is sent: it takes a tenth of a second. */
export const openServerTelemetry = async (
  settings: TelemetrySettings,
  sources: TelemetrySources,
): Promise<ServerTelemetry> => {
  if (settings.spans === undefined && settings.metrics === undefined) return nothingSent;
  const { startOtlpExport } = await import('./otlp/otlp-export.ts');
  return startOtlpExport(settings, sources);
};

const nothingSent: ServerTelemetry = {
  startRequest: undefined,
  startAttempt: undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
