// Finds assistants as agents. A caller who may run an assistant may call it as an agent and read its card.
import { invalid } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import { isRecord } from '../../json/is-record.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import type { AssistantService } from '../assistants/assistant-service.ts';
import { findSchemas } from '../assistants/graph-schemas.ts';
import type { IntrospectionService } from '../assistants/introspection-service.ts';
import type { RunGranter } from '../runs/run-grant.ts';

export interface Agent {
  assistant: AssistantRow;
  /** Whether the input of the graph has `messages`. */
  takesMessages: boolean;
}

export class AgentFinder {
  readonly #assistants: Pick<AssistantService, 'get' | 'defaultIds'>;
  readonly #introspection: IntrospectionService;
  readonly #granter: Pick<RunGranter, 'assistantFilter'>;

  constructor(
    assistants: Pick<AssistantService, 'get' | 'defaultIds'>,
    introspection: IntrospectionService,
    granter: Pick<RunGranter, 'assistantFilter'>,
  ) {
    this.#assistants = assistants;
    this.#introspection = introspection;
    this.#granter = granter;
  }

  /** `id`: of an assistant or a graph; by default the assistant of the only graph. Throws `not_found`. */
  async find(id: string | undefined, { authorizer }: Call): Promise<Agent> {
    const requested = id ?? this.#only();
    const assistant = await this.#assistants.get(
      requested,
      await this.#granter.assistantFilter(authorizer, requested),
    );
    const schema = (await findSchemas(this.#introspection, assistant))?.input_schema;
    const properties = isRecord(schema) ? schema['properties'] : undefined;
    return { assistant, takesMessages: !isRecord(properties) || Object.hasOwn(properties, 'messages') };
  }

  #only(): string {
    const [only, ...others] = this.#assistants.defaultIds;
    if (only !== undefined && others.length === 0) return only;
    throw invalid(['query', 'assistant_id'], 'is required: the server has several graphs');
  }
}
