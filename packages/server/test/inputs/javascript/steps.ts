// A graph that follows the plan of its input. Each step counts its executions, and waits until the test opens its gate.
import { AIMessage } from '@langchain/core/messages';
import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { setTimeout as sleep } from 'node:timers/promises';

const list = <T>() => Annotation<T[]>({ reducer: (a, b) => a.concat(b), default: () => [] });
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** step, call, sub or ask. */
  plan: Annotation<string[]>,
  at: Annotation<number>({ reducer: (_, b) => b, default: () => 0 }),
  note: Annotation<string>,
  /** The texts that each step has seen. */
  seen: list<string>(),
});
type Values = typeof State.State;

const gate = async (name: string, { store, signal, configurable }: LangGraphRunnableConfig) => {
  const thread = String(configurable?.['thread_id']);
  const begun = await store?.get(['begun', thread], name);
  await store?.put(['begun', thread], name, { times: Number(begun?.value['times'] ?? 0) + 1 });
  while (!(await store?.get(['open', thread], name))) await sleep(5, undefined, signal ? { signal } : {});
};

const texts = ({ messages }: Values): string => messages.map(({ content }) => String(content)).join(',');

const step = async (state: Values, config: LangGraphRunnableConfig) => {
  await gate(String(state.at), config);
  return { at: state.at + 1, seen: [`${state.at} ${texts(state)}`] };
};

/** Calls a tool. The next step gives its result. */
const call = async (state: Values, config: LangGraphRunnableConfig) => {
  await gate(String(state.at), config);
  const tool_calls = [{ id: `call-${state.at}`, name: 'tool', args: {} }];
  return {
    at: state.at + 1,
    messages: [new AIMessage({ id: `ai-${state.at}`, content: 'calls', tool_calls })],
  };
};

const tool = async (state: Values, config: LangGraphRunnableConfig) => {
  await gate(String(state.at), config);
  const message = {
    type: 'tool',
    tool_call_id: `call-${state.at - 1}`,
    content: 'result',
    id: `tool-${state.at}`,
  };
  return { at: state.at + 1, messages: [message] };
};

const ask = async (state: Values, config: LangGraphRunnableConfig) => {
  await gate(String(state.at), config);
  const answer = interrupt<string, string>('go on?');
  return { at: state.at + 1, seen: [`${state.at} ${answer} ${texts(state)}`] };
};

const inner = (name: string) => async (state: Values, config: LangGraphRunnableConfig) => {
  await gate(`${state.at}-${name}`, config);
  return name === 'second' ? { at: state.at + 1 } : {};
};
const sub = new StateGraph(State)
  .addNode('first', inner('first'))
  .addNode('second', inner('second'))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .compile();

type Next = 'step' | 'call' | 'tool' | 'sub' | 'ask' | '__end__';
const nodes: Next[] = ['step', 'call', 'tool', 'sub', 'ask', '__end__'];
const next = ({ plan, at }: Values) => (plan[at] ?? '__end__') as Next;

export const steps = new StateGraph(State)
  .addNode('step', step)
  .addNode('call', call)
  .addNode('tool', tool)
  .addNode('ask', ask)
  .addNode('sub', async (state, config) => {
    const { at } = await sub.invoke(state, config);
    return { at };
  })
  .addConditionalEdges(START, next, nodes)
  .addConditionalEdges('step', next, nodes)
  .addConditionalEdges('call', next, nodes)
  .addConditionalEdges('tool', next, nodes)
  .addConditionalEdges('ask', next, nodes)
  .addConditionalEdges('sub', next, nodes)
  .compile();
