// Exports for tests, made through the API.
import { until } from '../../server/test/eventually.ts';
import type { BulkExport, Destination } from '@svc/sdk';
import type { ObjectStore } from './object-store.ts';
import type { Traces } from './traces.ts';

const dayMs = 86_400_000;

/** Exports the trace runs of yesterday and today. */
export const startExport = async (
  { client }: Traces,
  project: string,
  destinationId: string,
): Promise<BulkExport> => {
  const [found] = await client.projects.list({ name: project });
  return client.exports.create({
    bulk_export_destination_id: destinationId,
    session_id: found?.id ?? '',
    start_time: new Date(Date.now() - 2 * dayMs).toISOString(),
    end_time: new Date(Date.now() + dayMs).toISOString(),
  });
};

export const folder = ({ client }: Traces, name: string): Promise<Destination> =>
  client.destinations.create({ destination_type: 'file', display_name: name, config: { path: name } });

export const bucket = ({ client }: Traces, name: string, store: ObjectStore): Promise<Destination> =>
  client.destinations.create({
    destination_type: 's3',
    display_name: name,
    config: { bucket_name: 'traces', endpoint_url: store.url },
    credentials: { access_key_id: 'AKIATESTTESTTESTTEST', secret_access_key: 'not-a-secret-of-anybody' },
  });

/** Resolves when an attempt of each of some days has failed. */
export const untilRetried = ({ client }: Traces, exportId: string, days: number): Promise<void> =>
  until(async () => {
    const runs = await client.exports.runs(exportId);
    return runs.filter(({ errors }) => errors !== null).length >= days;
  });
