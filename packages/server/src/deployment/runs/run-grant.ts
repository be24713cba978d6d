// Authorization of runs: for the thread, with the run as the payload, and for the assistant.
import { randomUUID } from 'node:crypto';
import { RunCreate, StatelessRunCreate, type AuthValue } from '@svc/contract';
import type { CreatedRun } from '../../api/call.ts';
import type { Call } from '../../api/handlers.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { User } from '../../auth/principal/caller.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { SelectHeaders } from '../../config/project/header-patterns.ts';
import { type Authorizer, checked } from '../../auth/authorization/authorizer.ts';
import { withValues } from '../../api/json-text.ts';
import { assistantIdOf } from '../assistants/default-assistant.ts';
import { runIdOf, toRunRequest, type RunRequest } from './run-request.ts';

/** The result of the authorization. */
export interface RunGrant {
  run_id: string;
  assistant_id: string;
  /** Filter that the thread (existing or new) must pass. */
  access: AccessFilter;
  assistantAccess: RowFilter;
  user: User | undefined;
}

/** An authorized request for a run. */
export interface GrantedRun {
  request: RunRequest;
  grant: RunGrant;
  /** Called when the run is stored, before it starts here. */
  onCreated?: (run: CreatedRun) => void;
}

type Body = RunCreate | StatelessRunCreate;
type Payload = AuthValue<'threads:create_run'>;

/** Fields of a run's body that are separate fields of the payload; the others are its `kwargs`. */
const apart = new Set([
  'assistant_id',
  'metadata',
  'multitask_strategy',
  'if_not_exists',
  'after_seconds',
  'checkpoint',
  'checkpoint_id',
]);

export class RunGranter {
  readonly #defaultIds: ReadonlySet<string>;
  readonly #selectHeaders: SelectHeaders | undefined;

  /** `selectHeaders`: the request headers that a run gets in `configurable`. */
  constructor(defaultIds: ReadonlySet<string>, selectHeaders: SelectHeaders | undefined) {
    this.#defaultIds = defaultIds;
    this.#selectHeaders = selectHeaders;
  }

  /**
   * Like `grant`, for a run with the tracer and headers of the request in `configurable`. Headers replace what the client sent: a proxy in
   * front of the server may set them.
   */
  async grantRequest(
    call: Pick<Call, 'authorizer' | 'headers' | 'runCreated'>,
    thread_id: string | null,
    sent: Body,
    key?: string,
  ): Promise<GrantedRun & { body: Body }> {
    const added = { ...tracerKeys(sent), ...this.#selectHeaders?.(call.headers()) };
    const configurable = { ...sent.config?.configurable, ...added };
    const run =
      Object.keys(added).length === 0
        ? sent
        : ({ ...sent, config: { ...sent.config, configurable } } as Body);
    const granted = await this.grant(call.authorizer, thread_id, run, key);
    return { ...granted, onCreated: (created) => call.runCreated(created) };
  }

  /** `key`: the Idempotency-Key. Also returns the body with the changes of a handler. Throws the error of a handler that refuses. */
  async grant(
    authorizer: Authorizer,
    thread_id: string | null,
    sent: Body,
    key?: string,
  ): Promise<GrantedRun & { body: Body }> {
    const { user } = authorizer;
    // Handlers can read the input, so its JSON texts are parsed.
    const requested = user === undefined ? sent : withValues(sent);
    const run_id = key === undefined ? randomUUID() : runIdOf(key, thread_id, user?.identity);
    const { value, access } = await authorizer.authorize(
      'threads:create_run',
      payloadOf(thread_id, run_id, requested),
    );
    const body = user === undefined ? requested : asChanged(thread_id, requested, value);
    const request = toRunRequest(body, key);
    const assistant_id = assistantIdOf(request.assistant_id);
    const assistantAccess = await this.assistantFilter(authorizer, request.assistant_id, assistant_id);
    return { body, request, grant: { run_id, assistant_id, access, assistantAccess, user } };
  }

  /** The filter that the assistant must pass. */
  assistantFilter(authorizer: Authorizer, idOrGraphId: string, assistant_id = assistantIdOf(idOrGraphId)) {
    return authorizer.authorizeAssistant(idOrGraphId, this.#defaultIds.has(assistant_id));
  }
}

const payloadOf = (thread_id: string | null, run_id: string, body: Body): Payload => {
  const strategy = ('multitask_strategy' in body ? body.multitask_strategy : undefined) ?? 'enqueue';
  return {
    thread_id: thread_id ?? undefined,
    assistant_id: body.assistant_id,
    run_id,
    status: 'pending',
    metadata: body.metadata,
    multitask_strategy: strategy,
    if_not_exists: ('if_not_exists' in body ? body.if_not_exists : undefined) ?? 'reject',
    prevent_insert_if_inflight: strategy === 'reject',
    after_seconds: body.after_seconds ?? 0,
    kwargs: Object.fromEntries(
      Object.entries(body).filter(([key, value]) => !apart.has(key) && value !== undefined),
    ),
  };
};

/** The body with the changes of a handler, validated like a request. */
const asChanged = (thread_id: string | null, body: Body, value: Payload): Body => {
  const { assistant_id, metadata, after_seconds, multitask_strategy, if_not_exists, kwargs } = value;
  const kept = Object.fromEntries(Object.entries(body).filter(([key]) => apart.has(key)));
  const changed = { ...kept, ...kwargs, assistant_id, metadata, after_seconds };
  return thread_id === null
    ? checked('threads:create_run', StatelessRunCreate, changed)
    : checked('threads:create_run', RunCreate, { ...changed, multitask_strategy, if_not_exists });
};

/** A tracer in a graph finds its project here. */
const tracerKeys = ({ langsmith_tracer: tracer }: Body): Record<string, string> => ({
  ...(tracer?.project_name ? { langsmith_project: tracer.project_name } : {}),
  ...(tracer?.example_id ? { langsmith_example_id: tracer.example_id } : {}),
});
