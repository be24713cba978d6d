import type { Attachment } from '../../storage/tracing/traces.ts';
import type { Rejections } from './rejections.ts';
import type { NewRunWrite } from './run-write.ts';

/** A validated batch, ready to be stored: one write for each run. */
export interface RunBatch {
  runs: NewRunWrite[];
  attachments: Attachment[];
  rejections: Rejections;
}
