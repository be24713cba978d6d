// One agent for all clients: it chats, calls a tool when asked for the weather, and asks a person before it sends a letter.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import {
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { weather } from '../../server/test/compatibility/project/weather.ts';
import { RuleModel, textOf } from './model.ts';

type State = typeof MessagesAnnotation.State;

const answer = async ({ messages }: State, config: LangGraphRunnableConfig) => ({
  messages: [await new RuleModel({}).invoke(messages, config)],
});

/** What a person is asked. Agent Chat UI shows buttons for the last two fields. */
const letter = {
  question: 'Send the letter?',
  action_request: { action: 'send the letter', args: { to: 'Ben' } },
  config: { allow_accept: true, allow_edit: false, allow_respond: false, allow_ignore: true },
};

/** Clients differ in their answers: some send a text, others an object. */
const isApproval = (reply: unknown): boolean => /yes|accept/.test(JSON.stringify(reply));

const approve = () => {
  const reply = interrupt(letter);
  return { messages: [new AIMessage(isApproval(reply) ? 'The letter is sent.' : 'The letter is kept.')] };
};

const asksForLetter = (message: BaseMessage | undefined): boolean =>
  message !== undefined && textOf(message).includes('letter');

export const agent = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addNode('tools', new ToolNode([weather]))
  .addNode('approve', approve)
  .addConditionalEdges(START, ({ messages }) => (asksForLetter(messages.at(-1)) ? 'approve' : 'answer'), [
    'approve',
    'answer',
  ])
  .addConditionalEdges(
    'answer',
    ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END),
    ['tools', END],
  )
  .addEdge('tools', 'answer')
  .compile();
