/** The run cannot start, and has executed nothing: its thread stays as it was. */
export class RunRefused extends Error {
  override readonly name = 'RunRefusedError';
}
