// Exports in any state, written to the database as workers would leave them.
import { randomUUID } from 'node:crypto';
import type { BulkExport, ExportRun, Project } from '@svc/contract';
import { expect } from 'vitest';
import type { PlatformServer } from './platform-server.ts';

export const sql = <Row>(platform: PlatformServer, text: string, values: unknown[] = []): Promise<Row[]> =>
  platform.server.database.query<Row>({ text }, values);

/** A destination that was never tested. */
export const newDestination = async (
  platform: PlatformServer,
  config: Record<string, unknown> = { bucket_name: 'traces', prefix: '/deep/er/' },
  tenant_id = platform.workspace_id,
): Promise<string> => {
  const id = randomUUID();
  const type = 'path' in config ? 'file' : 's3';
  await sql(
    platform,
    `insert into export_destinations (tenant_id, id, destination_type, display_name, config) values ($1, $2, $3, 'd', $4)`,
    [tenant_id, id, type, JSON.stringify(config)],
  );
  return id;
};

export const newProject = async (
  platform: PlatformServer,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<string> => {
  const { status, body } = await platform.call('POST', '/sessions', {
    json: { name: `project ${randomUUID()}` },
    ...options,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as Project).id;
};

/** The body of an export of three days; the first and the last are partial. */
export const sample = (destination: string, project: string): Record<string, unknown> => ({
  bulk_export_destination_id: destination,
  session_id: project,
  start_time: '2026-03-01T06:00:00Z',
  end_time: '2026-03-03T02:00:00Z',
});

export const newExport = async (
  platform: PlatformServer,
  json: Record<string, unknown>,
): Promise<BulkExport> => {
  const { status, body } = await platform.call('POST', '/bulk-exports', { json });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as BulkExport;
};

export const runsOf = async (platform: PlatformServer, id: string): Promise<ExportRun[]> => {
  const { status, body } = await platform.call('GET', `/bulk-exports/${id}/runs`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as ExportRun[];
};

export const cursorAt = (t: string): string =>
  Buffer.from(JSON.stringify({ v: 1, t, id: randomUUID() })).toString('base64url');

export const claimed = (platform: PlatformServer, run_id: string): Promise<unknown> =>
  sql(
    platform,
    `update export_runs set status = 'RUNNING', started_at = now() - interval '10 s', attempt_at = now() - interval '10 s',
      heartbeat_at = now(), lease_token = 1, lease_until = now() + interval '1 h' where id = $1`,
    [run_id],
  );

/** A file that is committed at the destination. */
export const wroteFile = async (
  platform: PlatformServer,
  { id, rows, at, number = 0 }: { id: string; rows: number; at: string; number?: number },
): Promise<void> => {
  await sql(
    platform,
    `insert into export_files (tenant_id, run_id, number, export_id, key, rows, bytes, raw_bytes, sha256, min_start_time, max_start_time)
      select tenant_id, id, $2::int, export_id, 'export_id=' || export_id || '/part-' || $2::text, $3, 100, 1000, 'x', window_start, window_start
      from export_runs where id = $1`,
    [id, number, rows],
  );
  await sql(
    platform,
    `update export_runs set cursor = $2, rows_written = rows_written + $3::int, attempt_rows = attempt_rows + $3::int,
      bytes_written = bytes_written + 100, raw_bytes = raw_bytes + 1000 where id = $1`,
    [id, cursorAt(at), rows],
  );
};
