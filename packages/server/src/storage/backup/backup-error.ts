/** A backup that cannot be written or restored. The message is for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
