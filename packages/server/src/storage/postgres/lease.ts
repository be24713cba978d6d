/** The right to write for something in the background, until its time is over. */
export interface Lease {
  id: string;
  /** Grows with every claim: what carries an older one is refused. */
  lease_token: number;
}
