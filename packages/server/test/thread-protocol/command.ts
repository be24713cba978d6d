import type { TestServer } from '../server.ts';

export interface CommandAnswer {
  type: 'success' | 'error';
  id: number;
  result: Record<string, unknown>;
  error?: string;
  message?: string;
  meta: { thread_id: string };
}

let lastId = 0;

/** Sends a command with an id of its own. */
export const command = async (
  server: TestServer,
  thread_id: string,
  method: string,
  params: object = {},
  id: number = ++lastId,
  headers: Record<string, string> = {},
): Promise<CommandAnswer> => {
  const { status, body } = await server.call(
    'POST',
    `/threads/${thread_id}/commands`,
    { id, method, params },
    headers,
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as CommandAnswer;
};
