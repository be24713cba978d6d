// Cursors of export partition runs, as they are stored.
import { readCursor } from '../../api/cursor.ts';
import type { RowPlace } from '../parquet/export-file.ts';

export const fromCursor = (cursor: string): RowPlace => {
  const place = readCursor(cursor);
  if (!place) throw new Error('The stored cursor of the export cannot be read');
  return { start_time: place.start_time, id: place.id };
};
