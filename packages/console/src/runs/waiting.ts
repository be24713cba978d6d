// Why a run is pending, and what a person can do about it.
import type { Run } from '@svc/sdk';
import { waitingText } from '../ui/time-text.ts';

type Waiting = NonNullable<Run['waiting_for']>;

export interface Advice {
  /** What the server says. */
  sentence: string;
  remedy: string;
}

const remedies: Record<Waiting['reason'], string> = {
  time: 'It starts by itself. Cancel it if it is not wanted any more.',
  thread:
    'Runs of a thread are executed one after the other. Cancel the run in front of it to let this one start.',
  worker:
    'Start a server or a worker whose configuration has this graph, or look at the log of the workers. Cancel the run if the graph was removed.',
  slot: 'All slots of the workers are taken. Start another worker, or cancel runs that are not wanted any more.',
};

export const adviceFor = (waiting: Waiting): Advice => ({
  sentence: waitingText(waiting),
  remedy: remedies[waiting.reason],
});
