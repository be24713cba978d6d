import type { Attachment } from '../../storage/tracing/traces.ts';
import type { Rejections } from './rejections.ts';
import type { NewRunWrite } from './run-write.ts';

/** The runs of a batch as they are stored: one write for each run. */
export interface RunBatch {
  runs: NewRunWrite[];
  attachments: Attachment[];
  rejections: Rejections;
}
