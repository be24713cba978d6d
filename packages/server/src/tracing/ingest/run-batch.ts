import type { Attachment } from '../../storage/tracing/traces.ts';
import type { Rejections } from './rejections.ts';
import type { NewRunWrite } from './run-write.ts';
import type { SentFeedback } from './sent-feedback.ts';

/** A batch with validated runs, one write for each. Its feedback is not validated. */
export interface RunBatch {
  runs: NewRunWrite[];
  attachments: Attachment[];
  feedback: SentFeedback[];
  rejections: Rejections;
}
