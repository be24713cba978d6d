// Interface of the stores to which exports write files: buckets and folders.
/** A local file to upload. */
export interface LocalFile {
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

export interface PutOptions {
  /** Reject with StoreConflict when the key already has an object, if the store can detect that. */
  ifAbsent: boolean;
  signal: AbortSignal;
}

/** The object of a key. */
export interface StoredFile {
  bytes: number;
  /** Hex; undefined when it is not known. */
  sha256: string | undefined;
}

/**
 * Keys have `/` between their parts and are relative to the prefix of the destination. All methods throw DestinationError; when aborted,
 * the reason of the signal.
 */
export interface FileStore extends AsyncDisposable {
  /** `bucket/prefix` or the path of the folder, for `exported_files` and for messages. */
  readonly root: string;
  /**
   * Writes the file atomically; replaces an existing object. After an abort either the whole object exists or nothing of it; the caller
   * cannot tell which.
   */
  put(key: string, file: LocalFile, options: PutOptions): Promise<void>;
  /** Like `put`, for a short text. */
  putText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void>;
  /** Undefined when the key has no object; `unknown` when the destination does not permit reading. */
  head(key: string, signal: AbortSignal): Promise<StoredFile | 'unknown' | undefined>;
  /** Deletes the object, if there is one. Only for objects that belong to no export. */
  remove(key: string, signal: AbortSignal): Promise<void>;
  /**
   * Removes unfinished multipart uploads and temporary files of the key, which killed processes left behind, if the destination permits
   * listing them. Finished objects stay. A process that is still uploading to the key fails, because its upload is deleted.
   */
  removeUnfinished(key: string, signal: AbortSignal): Promise<void>;
}

/** A store with the operations of the probe. */
export interface ProbedStore extends FileStore {
  /** Checks that the host or folder of the destination can be found, without writing. */
  findAddress(signal: AbortSignal): Promise<void>;
  /** Requests credentials for the role; undefined when the destination has no role. */
  readonly assumeRole: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Writes only when the key has no object, and throws StoreConflict when it has one. S3 services that ignore `If-None-Match` overwrite the
   * object; the probe tests that.
   */
  createText(key: string, text: string, contentType: string, signal: AbortSignal): Promise<void>;
}

const controlCharacter = /\p{Cc}/u;
const loneSurrogate = /\p{Cs}/u;

/** Splits a key. Throws for a key that could lead out of the store, which is a bug of the caller. */
export const partsOfKey = (key: string): string[] => {
  const parts = key.split('/');
  const fault = parts.map(pathPartFault).find((each) => each !== undefined);
  if (fault !== undefined) throw new Error(`A store key ${fault}`);
  return parts;
};

/** Returns why the text cannot be a part of a path; undefined when it can. */
export const pathPartFault = (part: string): string | undefined => {
  if (part === '') return 'must not have an empty part (//)';
  if (part === '.' || part === '..') return 'must not have the part . or ..';
  if (controlCharacter.test(part)) return 'must not have control characters';
  return loneSurrogate.test(part) ? 'must be text that can be written as UTF-8' : undefined;
};
