// Decodes stored cursors of export partition runs.
import { readCursor } from '../../api/cursor.ts';
import type { RowPlace } from '../parquet/export-file.ts';

export const fromCursor = (cursor: string): RowPlace => {
  const place = readCursor(cursor);
  if (!place) throw new Error('The stored cursor of the partition run is malformed');
  return { start_time: place.start_time, id: place.id };
};
