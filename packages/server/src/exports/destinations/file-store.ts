// Where the files of an export end up, whatever kind of place it is.

/** A file that is ready to go, on this machine. */
export interface LocalFile {
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

export interface PutOptions {
  /** Refuse with StoreConflict when there is an object under the key, as far as the place can tell. */
  ifAbsent: boolean;
  signal: AbortSignal;
}

/** What is kept under a key. */
export interface StoredFile {
  bytes: number;
  /** Hex; undefined when it is not known. */
  sha256: string | undefined;
}

/**
 * Keys have `/` between their parts, and begin below the prefix of the destination. All methods throw DestinationError;
 * when aborted, the signal's reason.
 */
export interface FileStore extends AsyncDisposable {
  /** `bucket/prefix` or a folder, for `exported_files` and people. */
  readonly root: string;
  /**
   * The whole file or nothing; it replaces what is there. When aborted, no part of it stays behind; whether the whole was
   * in place just before, nobody can say.
   */
  put(key: string, file: LocalFile, options: PutOptions): Promise<void>;
  /** The same for a short text. */
  putText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void>;
  /** `unknown`: this place does not let us look. Undefined: there is none. */
  head(key: string, signal: AbortSignal): Promise<StoredFile | 'unknown' | undefined>;
  /** Deletes what is there; fine when nothing is. Only for what is no part of any export. */
  remove(key: string, signal: AbortSignal): Promise<void>;
  /**
   * Removes what writers of the key that were killed have left, parts of uploads and files under other names, where the place
   * lets us look; never what is whole. A writer that is at work finds its upload gone.
   */
  removeUnfinished(key: string, signal: AbortSignal): Promise<void>;
}

/** A store as the probe uses it. */
export interface ProbedStore extends FileStore {
  /** Looks where it leads, as far as that can be known without writing. */
  findAddress(signal: AbortSignal): Promise<void>;
  /** Asks for the credentials of a role; undefined where there is none to assume. */
  readonly assumeRole: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Asks the place to refuse with StoreConflict when there is an object, without knowing whether it heeds that. */
  createText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void>;
}
