// The schemas of an assistant's graph, for protocols that describe agents.
import type { GraphSchemas } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import type { IntrospectionService } from './introspection-service.ts';

/** Undefined when the graph cannot be loaded: a run of it reports why. */
export const findSchemas = async (
  introspection: IntrospectionService,
  assistant: AssistantRow,
): Promise<GraphSchemas | undefined> => {
  try {
    return (await introspection.ask(assistant, { what: 'schemas' })) as GraphSchemas;
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid') return undefined;
    throw error;
  }
};
