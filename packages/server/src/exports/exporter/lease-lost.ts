/** The lease is somebody else's, or the work is over: nothing more may be touched. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}
