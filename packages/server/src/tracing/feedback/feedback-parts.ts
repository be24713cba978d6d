// Stores the feedback that tracers send together with runs.
import { feedbackRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { JsonBudget, type JsonLimits } from '../../json/json-limits.ts';
import { refusalOf } from '../../storage/postgres/sql-state.ts';
import { isSameId } from '../ingest/read-parts.ts';
import { parseJson } from '../ingest/sent-json.ts';
import { type Rejections, RunRejected, type SentFeedback } from '../ingest/sent-run.ts';
import type { FeedbackService, GivenFeedback } from './feedback-service.ts';

/** Stores each part; adds invalid ones to the rejections. Returns the number of stored ones. */
export const storeFeedbackParts = async (
  tenant_id: string,
  parts: readonly SentFeedback[],
  { service, limits, rejections }: { service: FeedbackService; limits: JsonLimits; rejections: Rejections },
): Promise<number> => {
  const budget = new JsonBudget(limits);
  let stored = 0;
  for (const part of parts) {
    try {
      await service.create(tenant_id, readPart(part, budget));
      stored++;
    } catch (error) {
      rejections.add(part.id, reasonOf(error));
    }
  }
  return stored;
};

const rejecting: ReadonlySet<string> = new Set(['conflict', 'invalid', 'not_found']);

/** Why feedback is rejected. Throws errors with other causes, such as an outage. */
const reasonOf = (error: unknown): string => {
  if (error instanceof RunRejected) return error.message;
  if (error instanceof Problem && rejecting.has(error.code)) return error.message;
  if (refusalOf(error) === undefined) throw error;
  return 'the feedback contains a value that cannot be stored';
};

const readPart = ({ id, content }: SentFeedback, budget: JsonBudget): GivenFeedback => {
  const sent = parseJson(content, 'the feedback', budget);
  if (typeof sent !== 'object' || sent === null) throw new RunRejected('the feedback is not an object');
  if (!isSameId((sent as { id?: unknown }).id, id))
    throw new RunRejected('its id does not equal the id in the name of its part');
  const { data, error } = feedbackRoutes.createFeedback.body.safeParse({ ...sent, id });
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new RunRejected(`the feedback is invalid: ${issue?.path.join('.')}: ${issue?.message}`);
};
