// A graph with a stream transformer, which pushes to a named channel and has a final value.
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
  type ProtocolEvent,
} from '@langchain/langgraph';
import { StreamChannel } from '@langchain/langgraph/stream';

/** Counts the nodes that end, and joins the text of the messages. */
const counting = () => {
  const nodes = StreamChannel.remote<{ node: string }>('nodes');
  let resolve: (summary: object) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const summary = new Promise<object>((...of) => ([resolve, reject] = of));
  let text = '';
  return {
    init: () => ({ nodes, summary }),
    process: ({ method, params }: ProtocolEvent) => {
      const data = params.data as { delta?: { text?: string }; node?: string };
      if (method === 'updates') nodes.push({ node: String(data.node) });
      if (method === 'messages') text += data.delta?.text ?? '';
      return true;
    },
    finalize: () => resolve({ text }),
    fail: reject,
  };
};

const answer = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const text = String(messages.at(-1)?.content);
  if (text === 'fail') throw new Error('no answer');
  const model = new FakeListChatModel({ responses: [`echo ${text}`] });
  return { messages: [await model.invoke(messages, config)] };
};

export const derived = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addNode('check', () => ({}))
  .addEdge(START, 'answer')
  .addEdge('answer', 'check')
  .compile({ transformers: [counting] });
