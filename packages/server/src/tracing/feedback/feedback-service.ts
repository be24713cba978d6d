import { randomUUID } from 'node:crypto';
import { type Feedback, feedbackRoutes, type RouteInput } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { FeedbackRow, FeedbackStorage } from '../../storage/tracing/feedback.ts';
import type { Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import { JsonBudget, type JsonLimits } from '../../json/json-limits.ts';
import { refusalOf } from '../../storage/postgres/sql-state.ts';
import { isSameId } from '../ingest/read-parts.ts';
import { parseJson } from '../ingest/sent-json.ts';
import { type Rejections, RunRejected, type SentFeedback } from '../ingest/sent-run.ts';

type Body<Route extends keyof typeof feedbackRoutes> = RouteInput<(typeof feedbackRoutes)[Route]>['body'];

/** `run_id`: the root of the trace when absent; without a trace, the feedback is on the project. */
export type GivenFeedback = Partial<Body<'createFeedback'>> & Pick<Body<'createFeedback'>, 'key'>;

/** Undefined leaves a field unchanged; null removes its value. */
export type ChangedFeedback = Partial<Body<'changeFeedback'>>;

export class FeedbackService {
  readonly #feedback: FeedbackStorage;

  constructor(feedback: FeedbackStorage) {
    this.#feedback = feedback;
  }

  async create(tenant_id: string, given: GivenFeedback): Promise<Feedback> {
    const { id = randomUUID(), key, score, value, correction, feedback_source, session_id = null } = given;
    const run_id = given.run_id ?? given.trace_id ?? null;
    if (run_id === null && session_id === null)
      throw invalid(['body', 'run_id'], 'run_id, trace_id or session_id must name what the feedback is on');
    const row = await this.#feedback.put({
      tenant_id,
      id,
      run_id,
      trace_id: given.trace_id ?? null,
      session_id,
      key,
      score: score === undefined ? null : String(Number(score)),
      value: value ?? null,
      correction: correction ?? null,
      comment: given.comment ?? null,
      feedback_source: feedback_source ?? { type: 'api', metadata: {} },
    });
    if (row !== undefined) return toFeedback(row);
    const isTaken = run_id !== null || (await this.#feedback.find(tenant_id, id)) !== undefined;
    throw isTaken
      ? new Problem('conflict', 'Feedback with this id already exists for another run')
      : notFound('Project', session_id ?? '');
  }

  async get(tenant_id: string, id: string): Promise<Feedback> {
    const row = await this.#feedback.find(tenant_id, id);
    if (row === undefined) throw notFound('Feedback', id);
    return toFeedback(row);
  }

  async change(tenant_id: string, id: string, given: ChangedFeedback): Promise<Feedback> {
    const { score, ...rest } = given;
    const decimal = score === undefined || score === null ? score : String(Number(score));
    const row = await this.#feedback.change(tenant_id, id, { ...rest, score: decimal });
    if (row === undefined) throw notFound('Feedback', id);
    return toFeedback(row);
  }

  async delete(tenant_id: string, id: string): Promise<undefined> {
    if (!(await this.#feedback.delete(tenant_id, id))) throw notFound('Feedback', id);
    return undefined;
  }

  async list(
    tenant_id: string,
    query: {
      run?: string[] | undefined;
      session?: string[] | undefined;
      key?: string[] | undefined;
      source?: string[] | undefined;
      limit: number;
      offset: number;
    },
  ): Promise<Feedback[]> {
    const { run = null, session = null, key = null, source = null } = query;
    const of = { run_ids: run, session_ids: session, keys: key, sources: source };
    const rows = await this.#feedback.list(tenant_id, of, query);
    return rows.map(toFeedback);
  }
}

const toFeedback = (row: FeedbackRow): Feedback => ({
  ...row,
  score: row.score === null ? null : Number(row.score),
});

export const feedbackHandlers = (feedback: FeedbackService): Handlers<typeof feedbackRoutes> => ({
  createFeedback: ({ body }, call) => feedback.create(tenantOf(call), body),

  listFeedback: ({ query }, call) => feedback.list(tenantOf(call), query),

  getFeedback: ({ params }, call) => feedback.get(tenantOf(call), params.feedback_id),

  changeFeedback: ({ params, body }, call) => feedback.change(tenantOf(call), params.feedback_id, body),

  deleteFeedback: ({ params }, call) => feedback.delete(tenantOf(call), params.feedback_id),
});

// Stores the feedback that tracers send together with runs.

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
