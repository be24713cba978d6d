// How long requests to an S3 service may take, and how often they are tried.

export interface S3Limits {
  /** For a connection to be there. */
  connectMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** For one call of the store, tries and all. */
  callMs: number;
  /** For one request; with pauses between that double. */
  tries: number;
}

export const usualS3Limits: S3Limits = { connectMs: 10_000, idleMs: 30_000, callMs: 15 * 60_000, tries: 5 };
