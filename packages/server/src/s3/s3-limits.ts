// Time limits and retries of requests to an S3 service.

export interface S3Limits {
  /** Time limit for opening a connection. */
  connectMs: number;
  /** Time limit without traffic on a connection. */
  idleMs: number;
  /** Time limit for one call of the store, including retries. */
  callMs: number;
  /** Maximum number of attempts of a request. The pause before each attempt doubles. */
  tries: number;
}

export const usualS3Limits: S3Limits = { connectMs: 10_000, idleMs: 30_000, callMs: 15 * 60_000, tries: 5 };

/** What the egress guard requires of the addresses of S3 services. */
export const egressRules = { httpsUnlessAllowed: true } as const;
