import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TelemetrySettings } from '../../config/settings/telemetry-settings.ts';

/** What tells apart the servers of a deployment. */
export interface ServerIdentity {
  readonly version: string;
  readonly instanceId: string;
}

/** The server, as all of its telemetry names it. */
export const serverResource = (
  { resource }: TelemetrySettings,
  { version, instanceId }: ServerIdentity,
): Resource =>
  defaultResource().merge(
    resourceFromAttributes({ 'service.version': version, 'service.instance.id': instanceId, ...resource }),
  );
