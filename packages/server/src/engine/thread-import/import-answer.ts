import type { ImportThreadAnswer } from '../dispatch/protocol.ts';

/** The answer before anything of the thread was read. */
export const emptyAnswer = (outcome: ImportThreadAnswer['outcome']): ImportThreadAnswer => ({
  outcome,
  checkpoints: 0,
  runs: 0,
  unfinished: [],
  undescribed: { count: 0, message: '' },
});
