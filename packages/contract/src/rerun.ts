/** Options of a run that describe what it does. Where it has begun and who receives its end are not repeated. */
const repeated = [
  'input',
  'command',
  'config',
  'context',
  'interrupt_before',
  'interrupt_after',
  'stream_mode',
  'stream_subgraphs',
  'durability',
] as const;

/** The options of a run with the same input, on the newest state of the thread. */
export const rerunOptions = ({ kwargs }: { kwargs: object }): Record<string, unknown> => {
  const options: Record<string, unknown> = { stream_resumable: true };
  for (const name of repeated) {
    const value = (kwargs as Record<string, unknown>)[name];
    if (value !== undefined && value !== null) options[name] = value;
  }
  return options;
};
