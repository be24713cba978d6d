// What the pages say about each kind of job.
import type { Job } from '@svc/sdk';
import type { IconName } from '../ui/icons.tsx';

interface JobText {
  action: string;
  noun: 'run' | 'thread';
  icon: IconName;
  isDangerous: boolean;
  /** What happens to the rows. */
  effect: string;
  /** Why a preview has no rows. */
  nothing: string;
}

export const jobTexts: Record<Job['kind'], JobText> = {
  cancel_runs: {
    action: 'Cancel',
    noun: 'run',
    icon: 'stop',
    isDangerous: true,
    effect: 'What the runs have written to their threads stays. They cannot be continued afterwards.',
    nothing: 'No run that matches is pending or running. Other runs cannot be cancelled.',
  },
  retry_runs: {
    action: 'Retry',
    noun: 'run',
    icon: 'rerun',
    isDangerous: false,
    effect:
      'Each run is repeated as a new run with the same input, config and context, on the newest state of its thread, without the webhook of the original. Runs of one thread start in their order.',
    nothing: 'No run that matches has ended with an error or a timeout. Other runs are not retried.',
  },
  delete_threads: {
    action: 'Delete',
    noun: 'thread',
    icon: 'trash',
    isDangerous: true,
    effect: 'Their states, checkpoints and runs are deleted with them. This cannot be undone. Copies stay.',
    nothing: 'No thread matches.',
  },
  prune_threads: {
    action: 'Prune',
    noun: 'thread',
    icon: 'cut',
    isDangerous: true,
    effect:
      'Their earlier checkpoints are deleted; the current states stay. This cannot be undone. Threads with a pending or running run are skipped.',
    nothing: 'No thread matches.',
  },
};

/** `Cancel runs`. */
export const jobName = ({ kind }: Pick<Job, 'kind'>): string =>
  `${jobTexts[kind].action} ${jobTexts[kind].noun}s`;

export const isLive = ({ state }: Pick<Job, 'state'>): boolean =>
  state === 'running' || state === 'cancelling';
