// What a person has sent in a column, while the state of its thread lacks it: with the start of the run, and into the run that executes.
import { useState } from 'react';
import { useClient } from '../api/client.tsx';
import type { ColumnAddress } from './column-address.ts';
import { messagesIn, type Sent, type SentInput } from './merge-messages.ts';

interface Context {
  /** False when the column shows another thread. */
  isShown: () => boolean;
  fail: (error: Error) => void;
}

export const useSent = ({ threadId, setRun }: Pick<ColumnAddress, 'threadId' | 'setRun'>) => {
  const client = useClient();
  const [sent, setSent] = useState<Sent>();
  const [inputs, setInputs] = useState<readonly SentInput[]>([]);
  const clear = (): void => {
    setSent(undefined);
    setInputs([]);
  };
  return {
    sent,
    setSent,
    inputs,
    clear,
    /** The run has ended. The first input that it has not taken is the next run. */
    onEnded: (): void => {
      clear();
      const [first] = inputs;
      if (first === undefined || threadId === undefined) return;
      client.runs.get(threadId, first.runId).then(
        ({ cancel_reason }) => cancel_reason ?? setRun(first.runId),
        () => undefined, // deleted meanwhile: the column shows the run that has ended
      );
    },
    /** Resolves with false when the server refuses the input. */
    sendInto: async (
      runId: string | undefined,
      input: Record<string, unknown>,
      { isShown, fail }: Context,
    ): Promise<boolean> => {
      if (threadId === undefined || runId === undefined) return false;
      try {
        const options = { idempotencyKey: crypto.randomUUID() };
        const { run_id: id } = await client.runs.sendInput(threadId, runId, input, options);
        if (isShown()) setInputs((before) => [...before, { runId: id, messages: messagesIn(input) }]);
        return true;
      } catch (error) {
        if (isShown()) fail(error as Error);
        return !isShown();
      }
    },
  };
};
