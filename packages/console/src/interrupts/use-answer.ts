import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';
import { resumeOf, type Question } from './read-interrupt.ts';

export interface Answer {
  threadId: string;
  assistantId: string;
  question: Question;
  answer: unknown;
}

/** The modes that the console reads of each run. */
export const streamModes = ['messages-tuple', 'updates', 'tasks'] as const;

export interface SentAnswer {
  threadId: string;
  /** The run that passes it to the graph. */
  runId: string;
}

/**
 * Starts the run that passes an answer to the graph. Somebody else's answer in between makes it fail with a conflict.
 * `onSent` is called also when the form of the answer is no longer shown.
 */
export const useAnswer = (
  onSent: (sent: SentAnswer) => void,
): UseMutationResult<{ runId: string }, Error, Answer> => {
  const client = useClient();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ threadId, assistantId, question, answer }: Answer) => {
      const run = await client.runs.create(
        threadId,
        assistantId,
        {
          command: { resume: resumeOf(question, answer) },
          multitask_strategy: 'reject',
          stream_mode: [...streamModes],
          stream_resumable: true,
        },
        { idempotencyKey: crypto.randomUUID() },
      );
      return { runId: run.run_id };
    },
    onSuccess: ({ runId }, { threadId }) => {
      onSent({ threadId, runId });
      return refreshChanged(queries);
    },
  });
};
