/** The lease belongs to another worker, or the task has ended. The exporter must not change anything more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}
