// What the address of the playground becomes when a comparison begins, changes or ends.

export type Side = 'left' | 'right';

export const sideNames: Record<Side, string> = { left: 'Left', right: 'Right' };

interface Search {
  assistant?: string | undefined;
  thread?: string | undefined;
  run?: string | undefined;
  compare?: string | undefined;
  compareThread?: string | undefined;
  compareRun?: string | undefined;
  panel?: 'config' | 'state' | 'threads' | undefined;
  part?: 'graph' | 'settings' | undefined;
  column?: 'right' | undefined;
}

const one = ({ assistant, thread, run, panel }: Search): Search => ({ assistant, thread, run, panel });

/** `assistant`: the id of the left one, which the address need not have. */
export const withComparison = (search: Search, assistant: string, compare: string): Search => ({
  ...one(search),
  assistant,
  compare,
});

/** The column of the other side stays, with its thread and its run. */
export const withoutSide = (search: Search, side: Side): Search =>
  side === 'right'
    ? one(search)
    : one({
        ...search,
        assistant: search.compare,
        thread: search.compareThread,
        run: search.compareRun,
      });

/** Another assistant begins a new thread. */
export const withAssistant = (search: Search, side: Side, id: string): Search =>
  side === 'left'
    ? { ...search, assistant: id, thread: undefined, run: undefined }
    : { ...search, compare: id, compareThread: undefined, compareRun: undefined };

export const withNewThreads = (search: Search): Search => ({
  ...search,
  thread: undefined,
  run: undefined,
  compareThread: undefined,
  compareRun: undefined,
});
