// Returns the user that it acts for, and keeps a message.
import { Annotation, START, StateGraph, interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  action: Annotation<string>,
  answer: Annotation<unknown>,
  note: Annotation<string>,
});

const actions: Record<string, (config: LangGraphRunnableConfig) => unknown> = {
  user: ({ configurable = {} }) =>
    Object.fromEntries(Object.entries(configurable).filter(([key]) => key.includes('auth'))),
  wait: () => new Promise(() => undefined),
  crash: ({ configurable, metadata }) => {
    if (metadata?.['run_attempt'] === 1) process.exit(1);
    return configurable?.['svc_auth_user_id'];
  },
  environment: () => ({ ...process.env }),
  approve: () => interrupt('may I?'),
};

const node = async ({ action, note }: typeof State.State, config: LangGraphRunnableConfig) => {
  config.writer?.({ note });
  return { answer: await actions[action]?.(config) };
};

export const graph = new StateGraph(State).addNode('node', node).addEdge(START, 'node').compile();
