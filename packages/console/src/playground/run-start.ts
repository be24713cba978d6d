// Where a run has started, when it is not at the newest checkpoint of its thread.
import type { Run } from '@svc/sdk';
import { isObject } from '../messages/read-messages.ts';
import { messagesIn, type Sent } from './merge-messages.ts';

export interface RunStart {
  checkpointId: string;
  /** The input of the run, which the state at the checkpoint lacks. */
  sent: Sent;
}

/** Undefined for a run that started at the newest checkpoint. */
export const startOf = ({ kwargs }: Pick<Run, 'kwargs'>): RunStart | undefined => {
  const { checkpoint, input } = kwargs as Record<string, unknown>;
  const id = isObject(checkpoint) ? checkpoint['checkpoint_id'] : undefined;
  if (typeof id !== 'string') return undefined;
  return { checkpointId: id, sent: { messages: messagesIn(input), cutId: undefined } };
};
