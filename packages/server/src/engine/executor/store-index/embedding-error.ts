/**
 * The embedding model of the project failed. Not a Problem: a run that fails with `unavailable` gets another attempt, but the
 * model may fail each time.
 */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
}
