// The page's address says which server it uses and which thread it shows, so that a reload shows the same thread.
const query = new URLSearchParams(location.search);

export const apiUrl = query.get('api')!;
export const transport = query.get('transport') as 'sse' | 'websocket';
export const threadId = query.get('thread');
export const defaultHeaders = { authorization: `Bearer ${query.get('token')!}` };

export const rememberThread = (id: string): void => {
  query.set('thread', id);
  history.replaceState(null, '', `?${query}`);
};

/** The question of an interrupt of the agent. */
export const questionOf = (interrupt: unknown): string | undefined =>
  (interrupt as { value?: { question?: string } } | undefined)?.value?.question;
