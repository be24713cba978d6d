// How an export run gets its rows into the destination, each once, whatever is killed and whenever.
//
//   write    the rows after the cursor, to a file on this machine
//   begin    say under the lease: this key, up to this row, with these figures
//   upload   to exactly that key
//   verify   that what is there is what was sent, where the place lets us look
//   commit   under the lease: the file is written, the cursor is there
//
// No key is uploaded before its rows are recorded, and who begins again after a crash uploads the rows that were recorded to
// the same key: so whatever an attempt left behind is either what is committed, or overwritten by it. What a writer that has lost
// its lease still uploads has the same rows; it must not replace what another one committed with what rows were earlier, so
// the first upload of a key in an attempt asks for there being none, and who finds one looks whether it still has its lease.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportStepStorage, PendingFile } from '../../storage/exports/export-steps.ts';
import { DestinationError, StoreConflict } from '../destinations/destination-error.ts';
import type { FileStore, StoredFile } from '../destinations/file-store.ts';
import { fileName, partitionFolder } from './layout.ts';
import type { RowPlace, WriteFile, WrittenFile } from '../parquet/export-file.ts';
import type { PartitionRunCommand, WrittenFigures } from './exporter-protocol.ts';
import { toCursor } from '../../api/cursor.ts';
import { fromCursor } from './row-cursor.ts';
import { LeaseLost } from './lease-lost.ts';

/** What has just been done; `resumed`: nothing yet, but the file of an attempt before is to be finished. */
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
   * Whether nothing is left to write; false when it was asked to stop after a file. Throws LeaseLost; the signal's reason when it is
   * aborted; and whatever keeps it from going on.
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

  /** Finishes what an attempt before has begun. */
  async #resume(pending: PendingFile, signal: AbortSignal): Promise<void> {
    await this.#step('resumed');
    const { store, leases, command } = this.#options;
    await store.removeUnfinished(pending.key, signal);
    const found = await store.head(pending.key, signal);
    if (isSame(found, pending)) return this.#commit(pending);
    const target = fromCursor(pending.target_cursor);
    const file = await this.#write(target, signal);
    if (file) return this.#deliver(this.#pendingOf(file, target), file.path, signal);
    // All of its rows have been deleted since. What may be there would be a file that nobody tells of.
    await this.#assertHeld();
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
    await this.#assertHeld();
    if (isSame(await store.head(key, signal), file)) return;
    await this.#assertHeld();
    await store.put(key, file, { ifAbsent: false, signal });
  }

  async #verify(pending: PendingFile, signal: AbortSignal): Promise<void> {
    const found = await this.#options.store.head(pending.key, signal);
    if (found === 'unknown') return;
    const isThere = found !== undefined && found.bytes === pending.bytes;
    if (isThere && (found.sha256 === undefined || found.sha256 === pending.sha256)) return;
    const what = found === undefined ? 'nothing is there' : `${found.bytes} bytes are there`;
    throw new DestinationError(`A file of ${pending.bytes} bytes was uploaded, and ${what}`, {
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

  async #assertHeld(): Promise<void> {
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

/** What is there is the file that was meant, for certain. */
const isSame = (
  found: StoredFile | 'unknown' | undefined,
  { bytes, sha256 }: { bytes: number; sha256: string },
): boolean => typeof found === 'object' && found.bytes === bytes && found.sha256 === sha256;
