// The result of a run as the result of a tool.
import { isRecord } from '../../engine/codec/tagged.ts';
import type { RunOutcome } from '../../engine/streams/run-event-stream.ts';

const result = (text: string, structured: string | undefined, isError: boolean): string => {
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}]`;
  return `{${content}${structured === undefined ? '' : `,"structuredContent":${structured}`}${isError ? ',"isError":true' : ''}}`;
};

/**
 * JSON text of a CallToolResult. `values`: the response of `wait`, JSON text. A run that failed, was cancelled or was interrupted is an error of
 * the tool: a stateless run cannot be resumed.
 */
export const toolResult = (values: string, status: RunOutcome['status']): string => {
  const value = JSON.parse(values) as unknown;
  const error = isRecord(value) ? value['__error__'] : undefined;
  if (isRecord(error)) {
    const { error: name, message } = error as { error: string; message: string };
    return result(`${name}: ${message}`, undefined, true);
  }
  const structured = isRecord(value) ? values : undefined;
  if (structured === undefined || !('__interrupt__' in (value as object)))
    return status === 'success'
      ? result(values, structured, false)
      : result(`The run was cancelled. Values so far: ${values}`, structured, true);
  const requested = JSON.stringify((value as { __interrupt__: unknown }).__interrupt__);
  const text = `The run was interrupted and waits for an answer, which this protocol cannot send. Interrupts: ${requested}`;
  return result(text, structured, true);
};
