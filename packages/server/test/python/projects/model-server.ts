// A server with the messages API of Anthropic, for projects whose models are of a provider. It calls a tool once, if it has one for which there
// are arguments here, and then repeats what it was told.
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { serveHttp } from '../../serve-http.ts';

/** By the name of a tool. */
const argumentsOf: Record<string, object> = {
  search: { query: 'the news' },
  internet_search: { query: 'the news' },
  upsert_memory: { content: 'likes tea', context: 'a talk' },
  SearchQuery: { query: 'tea' },
};

interface Message {
  role: string;
  content: string | { type: string; text?: string; content?: unknown }[];
}

interface Asked {
  messages: Message[];
  tools?: { name: string }[];
  stream?: boolean;
}

type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: object };

const answer = ({ messages, tools = [] }: Asked): Block => {
  const last = messages.at(-1);
  const blocks =
    typeof last?.content === 'string' ? [{ type: 'text', text: last.content }] : (last?.content ?? []);
  const result = blocks.find(({ type }) => type === 'tool_result');
  if (result) return { type: 'text', text: `The tool said: ${JSON.stringify(result)}` };
  const tool = tools.find(({ name }) => name in argumentsOf);
  if (tool) return { type: 'tool_use', id: 'toolu_1', name: tool.name, input: argumentsOf[tool.name] ?? {} };
  return { type: 'text', text: `You said: ${JSON.stringify(blocks)}` };
};

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null };
const usage = { input_tokens: 1, output_tokens: 1 };

const writeStream = (response: ServerResponse, block: Block, stop_reason: string): void => {
  const send = (type: string, fields: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const isText = block.type === 'text';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send('message_start', { message: { ...head, content: [], stop_reason: null, usage } });
  send('content_block_start', {
    index: 0,
    content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
  });
  const delta = isText
    ? { type: 'text_delta', text: block.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
  send('message_stop', {});
  response.end();
};

export const startModelServer = async (): Promise<AsyncDisposable & { url: string }> =>
  serveHttp(
    createServer((request, response) => {
      void json(request).then((asked) => {
        const block = answer(asked as Asked);
        const stop_reason = block.type === 'text' ? 'end_turn' : 'tool_use';
        if ((asked as Asked).stream === true) return writeStream(response, block, stop_reason);
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...head, content: [block], stop_reason, usage }));
      });
    }),
  );
