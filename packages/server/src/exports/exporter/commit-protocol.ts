// Writes the rows of a partition run to the destination. Each row ends up in exactly one committed file, no matter which process
// fails and when.
//
// Steps for each file:
//
//   write    write the rows after the cursor to a local file
//   begin    under the lease: record the key, the position of the last row and the figures of the file (`pending_upload`)
//   upload   upload the file to that key
//   verify   compare the size and hash of the stored object, if the destination allows reading them
//   commit   under the lease: record the file as committed, and advance the cursor to its last row
//
// Invariants:
// 1. The row range of a key is recorded before anything is uploaded to that key. The next attempt writes the same range to the same
//    key. An object that a failed attempt left behind is therefore either committed as it is, or overwritten.
// 2. A process that has lost its lease may still be uploading. It uploads the same row range, but possibly older versions of the rows,
//    which must not overwrite a file that another process has committed. The first upload to a key in an attempt therefore requires
//    that no object has that key (`ifAbsent`). If there is one, the process checks its lease before it overwrites the object.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportStepStorage, PendingFile } from '../../storage/exports/export-steps.ts';
import { DestinationError, StoreConflict } from '../../s3/destination-error.ts';
import type { FileStore, StoredFile } from '../destinations/file-store.ts';
import { fileName, partitionFolder } from './layout.ts';
import type { RowPlace, WriteFile, WrittenFile } from '../parquet/export-file.ts';
import { LeaseLost, type PartitionRunCommand, type WrittenFigures } from './exporter-protocol.ts';
import { readCursor, toCursor } from '../../api/cursor.ts';

/** The step that was just finished. `resumed` comes before the first step, when an earlier attempt has begun a file. */
export type Step = 'resumed' | 'written' | 'begun' | 'uploaded' | 'verified' | 'committed' | 'finished';

export interface CommitProtocolOptions {
  command: PartitionRunCommand;
  store: FileStore;
  leases: Pick<ExportStepStorage, 'beginFile' | 'commitFile' | 'skipFile' | 'holds'>;
  writeFile: WriteFile;
  /** Awaited after each step, before the next. */
  onStep?: (step: Step, command: PartitionRunCommand) => Promise<void> | void;
  onFile?: (file: WrittenFigures) => void;
}

export class CommitProtocol {
  readonly #options: CommitProtocolOptions;
  #cursor: RowPlace | null;
  #files: number;

  constructor(options: CommitProtocolOptions) {
    this.#options = options;
    const { cursor, files } = options.command;
    this.#cursor = cursor === null ? null : fromCursor(cursor);
    this.#files = files;
  }

  /**
   * True when all rows are written; false when it stopped after a file because `stopAfterFile` was aborted. Throws LeaseLost, the
   * reason of `signal` when it is aborted, and the errors of the store and the database.
   */
  async run(signal: AbortSignal, stopAfterFile: AbortSignal): Promise<boolean> {
    const { pending_upload } = this.#options.command;
    if (pending_upload) await this.#resume(pending_upload, signal);
    for (;;) {
      if (stopAfterFile.aborted) return false;
      const file = await this.#write(null, signal);
      if (!file) break;
      await this.#deliver(this.#pendingOf(file, file.last), file.path, signal);
      if (file.is_last) break;
    }
    await this.#step('finished');
    return true;
  }

  /** Finishes the file that an earlier attempt has begun. */
  async #resume(pending: PendingFile, signal: AbortSignal): Promise<void> {
    await this.#step('resumed');
    const { store, leases, command } = this.#options;
    await store.removeUnfinished(pending.key, signal);
    const found = await store.head(pending.key, signal);
    if (isSame(found, pending)) return this.#commit(pending);
    const target = fromCursor(pending.target_cursor);
    const file = await this.#write(target, signal);
    if (file) return this.#deliver(this.#pendingOf(file, target), file.path, signal);
    // All rows of the file were deleted meanwhile. An object under its key would be in no manifest.
    await this.#assertLease();
    if (found !== undefined) await store.remove(pending.key, signal);
    if (!(await leases.skipFile(command.lease, pending.target_cursor))) throw new LeaseLost();
    this.#cursor = target;
  }

  async #write(upTo: RowPlace | null, signal: AbortSignal): Promise<WrittenFile | undefined> {
    const { command, writeFile } = this.#options;
    const { scope, shape, limits, tempDir } = command;
    const path = join(tempDir, fileName(this.#files));
    const file = await writeFile({ scope, shape, limits, after: this.#cursor, upTo, path }, signal);
    await this.#step('written');
    return file;
  }

  async #deliver(pending: PendingFile, path: string, signal: AbortSignal): Promise<void> {
    const { leases, command } = this.#options;
    if (!(await leases.beginFile(command.lease, pending))) throw new LeaseLost();
    await this.#step('begun');
    const { key, bytes, sha256 } = pending;
    await this.#upload(key, { path, bytes, sha256 }, signal);
    await this.#step('uploaded');
    await this.#verify(pending, signal);
    await this.#step('verified');
    await this.#commit(pending);
    await rm(path, { force: true });
  }

  async #upload(
    key: string,
    file: { path: string; bytes: number; sha256: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { store } = this.#options;
    try {
      return await store.put(key, file, { ifAbsent: true, signal });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
    await this.#assertLease();
    if (isSame(await store.head(key, signal), file)) return;
    await this.#assertLease();
    await store.put(key, file, { ifAbsent: false, signal });
  }

  async #verify(pending: PendingFile, signal: AbortSignal): Promise<void> {
    const found = await this.#options.store.head(pending.key, signal);
    if (found === 'unknown') return;
    const hasSize = found !== undefined && found.bytes === pending.bytes;
    if (hasSize && (found.sha256 === undefined || found.sha256 === pending.sha256)) return;
    const result =
      found === undefined
        ? 'the destination has no such object'
        : `the stored object has ${found.bytes} bytes${hasSize ? ' and another hash' : ''}`;
    throw new DestinationError(`A file of ${pending.bytes} bytes was uploaded, but ${result}`, {
      code: 'NotAsSent',
      isFinal: false,
    });
  }

  async #commit(pending: PendingFile): Promise<void> {
    const { leases, command, onFile } = this.#options;
    if (!(await leases.commitFile(command.lease, pending.key))) throw new LeaseLost();
    this.#cursor = fromCursor(pending.target_cursor);
    this.#files += 1;
    const { rows, bytes, raw_bytes } = pending;
    onFile?.({ rows, bytes, raw_bytes });
    await this.#step('committed');
  }

  async #assertLease(): Promise<void> {
    const { leases, command } = this.#options;
    if (!(await leases.holds(command.lease))) throw new LeaseLost();
  }

  #pendingOf(file: WrittenFile, target: RowPlace): PendingFile {
    const { command } = this.#options;
    const { rows, bytes, raw_bytes, sha256, min_start_time, max_start_time } = file;
    const { tenant_id, session_id, since } = command.scope;
    const folder = partitionFolder({
      export_id: command.export_id,
      tenant_id,
      session_id,
      format_version: command.shape.format_version,
      layout_version: command.layout_version,
      start: since,
    });
    return {
      target_cursor: toCursor(target),
      key: `${folder}/${fileName(this.#files)}`,
      rows,
      bytes,
      raw_bytes,
      sha256,
      min_start_time,
      max_start_time,
    };
  }

  async #step(step: Step): Promise<void> {
    await this.#options.onStep?.(step, this.#options.command);
  }
}

/** True when size and hash of the stored object are known and equal those of the file. */
const isSame = (
  found: StoredFile | 'unknown' | undefined,
  { bytes, sha256 }: { bytes: number; sha256: string },
): boolean => typeof found === 'object' && found.bytes === bytes && found.sha256 === sha256;

/** Decodes stored cursors of export partition runs. */
const fromCursor = (cursor: string): RowPlace => {
  const place = readCursor(cursor);
  if (!place) throw new Error('The stored cursor of the partition run is malformed');
  return { start_time: place.start_time, id: place.id };
};
