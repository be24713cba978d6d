// Writes the manifest, the last file of an export, which lists all other files. Its text is computed from stored rows only, so a
// repeated attempt writes the same bytes.
import type { ExportStepStorage, ManifestFile } from '../../storage/exports/export-steps.ts';
import { DestinationError } from '../../s3/destination-error.ts';
import type { FileStore } from '../destinations/file-store.ts';
import { manifestKey, prefixOf } from './layout.ts';
import { LeaseLost, type ManifestCommand } from './exporter-protocol.ts';

export type ManifestStep = 'manifest composed' | 'manifest uploaded' | 'manifest committed';

export interface ManifestWritingOptions {
  command: ManifestCommand;
  store: FileStore;
  leases: Pick<ExportStepStorage, 'files' | 'holds' | 'completeExport' | 'hasEndedOtherwise'>;
  /** Awaited after each step, before the next. */
  onStep?: (step: ManifestStep, command: ManifestCommand) => Promise<void> | void;
}

/** Files that one query returns. */
const pageSize = 1_000;
/** Time limit for deleting an invalid manifest, which also happens after a stop. Shorter than the grace period of a stop (5 s). */
const removalMs = 4_000;

/** The key of an entry includes the prefix in the bucket; in a folder it is the path relative to the folder. */
const toEntry = (prefix: string, { window_start, window_end, key, ...file }: ManifestFile) => ({
  key: prefix === '' ? key : `${prefix}/${key}`,
  rows: file.rows,
  bytes: file.bytes,
  sha256: file.sha256,
  min_start_time: file.min_start_time,
  max_start_time: file.max_start_time,
  partition: { start_time: window_start, end_time: window_end },
});

/** Throws LeaseLost, the reason of the signal when it is aborted, and the errors of the store and the database. */
export const writeManifest = async (
  { command, store, leases, onStep }: ManifestWritingOptions,
  signal: AbortSignal,
): Promise<void> => {
  const { lease, export_id } = command;
  const text = await compose(command, leases);
  await onStep?.('manifest composed', command);
  if (!(await leases.holds(lease))) throw new LeaseLost();
  signal.throwIfAborted();
  const key = manifestKey(export_id);
  try {
    await upload(store, key, text, signal);
    await onStep?.('manifest uploaded', command);
    if (!(await leases.completeExport(lease, text))) throw new LeaseLost();
  } catch (error) {
    // An export that failed, timed out or was cancelled must not have a manifest. If the export is still running, the next attempt
    // overwrites the manifest.
    if (await leases.hasEndedOtherwise(lease)) await store.remove(key, AbortSignal.timeout(removalMs));
    throw error;
  }
  await onStep?.('manifest committed', command);
};

const upload = async (store: FileStore, key: string, text: string, signal: AbortSignal): Promise<void> => {
  await store.putText(key, text, 'application/json', signal);
  const found = await store.head(key, signal);
  const bytes = Buffer.byteLength(text);
  if (found === 'unknown' || found?.bytes === bytes) return;
  throw new DestinationError(
    `The manifest has ${bytes} bytes, but the stored object has ${found?.bytes ?? 0}`,
    {
      code: 'NotAsSent',
      isFinal: false,
    },
  );
};

const compose = async (
  { lease, export_id, target, head }: ManifestCommand,
  leases: ManifestWritingOptions['leases'],
): Promise<string> => {
  const { session_id, ...rest } = head;
  const prefix = prefixOf({ destination_type: target.destination_type, config: { ...target.config } });
  const files: ManifestFile[] = [];
  for (let after: ManifestFile | null = null; ;) {
    const page: ManifestFile[] = await leases.files(lease.tenant_id, export_id, after, pageSize);
    files.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < pageSize) break;
  }
  return JSON.stringify({
    version: 1,
    export_id,
    tenant_id: lease.tenant_id,
    session_ids: [session_id],
    ...rest,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files: files.map((file) => toEntry(prefix, file)),
  });
};
