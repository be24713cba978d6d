// Channel `tools`: the calls of tools.
import { isRecord } from '../../../json/is-record.ts';
import type { Dialect } from './dialect.ts';
import { textOr, type JsonRecord, type LoggedEvent, type ProtocolEvent } from './protocol-event.ts';

const messageOf = (error: unknown): string => {
  if (typeof error === 'string') return error;
  return isRecord(error) ? textOr(error['message'], 'The tool failed') : 'The tool failed';
};

/** LangChain.js reports the arguments of a call as JSON text. */
const argumentsOf = (input: unknown): unknown => {
  if (typeof input !== 'string') return input ?? null;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    // The tool takes a text.
    return input;
  }
};

const dataOf = (tool_call_id: string, data: JsonRecord, dialect: Dialect): JsonRecord | undefined => {
  switch (data['event']) {
    case 'on_tool_start':
      return {
        event: 'tool-started',
        tool_call_id,
        tool_name: textOr(data['name'], 'unknown'),
        input: dialect === 'python' ? argumentsOf(data['input']) : (data['input'] ?? null),
      };
    case 'on_tool_event': {
      const delta = data['data'];
      return {
        event: 'tool-output-delta',
        tool_call_id,
        delta: typeof delta === 'string' ? delta : JSON.stringify(delta ?? null),
      };
    }
    case 'on_tool_end':
      return { event: 'tool-finished', tool_call_id, output: data['output'] ?? null };
    case 'on_tool_error':
      return { event: 'tool-error', tool_call_id, message: messageOf(data['error']) };
    default:
      return undefined;
  }
};

/**
 * `graph`: the namespace of the graph that calls the tool. Tools that a node calls without a tool call of a model have no id, so they are no
 * event of this channel.
 */
export const toolEvents = (
  { namespace, data: logged }: LoggedEvent,
  graph: readonly string[],
  dialect: Dialect,
): ProtocolEvent[] => {
  if (!isRecord(logged)) return [];
  const tool_call_id = textOr(logged['toolCallId'], undefined);
  const data = tool_call_id === undefined ? undefined : dataOf(tool_call_id, logged, dialect);
  if (data === undefined) return [];
  return [{ channel: 'tools', method: 'tools', namespace, graph, data, key: 'tool' }];
};
