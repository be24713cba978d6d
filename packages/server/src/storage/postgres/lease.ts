/** The right to write for a background task, until the lease ends. */
export interface Lease {
  id: string;
  /** Grows with every claim. Writes with an older token are rejected. */
  lease_token: number;
}
