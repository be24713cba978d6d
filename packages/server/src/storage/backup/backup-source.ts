// A place from which a backup is read: a folder, or a prefix of a bucket.

export interface BackupSource {
  /** The path of the folder or the URL of the prefix. `place/file` is the path or URL of a file. */
  readonly place: string;
  /** True when reading is expensive. A restore then reads each file once, and compares its checksum while it loads the rows. */
  readonly isRemote: boolean;
  /** Size of a file in bytes. Throws as `read` does. */
  sizeOf(file: string): Promise<number>;
  /** Throws a BackupError when the place cannot be reached or used, and another error when the file cannot be read. */
  read(file: string): AsyncIterable<Buffer>;
}
