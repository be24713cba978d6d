// How many runs an executor executes at a time. By default this follows from its load: agents mostly wait for models, so an executor can take
// many of them, but runs that compute delay each other and everything else in the process.

/** `most`; `least` while the executor is overloaded. */
export interface SlotLimits {
  readonly least: number;
  readonly most: number;
}

/** `jobs`: the setting. */
export const slotLimits = (jobs: number | 'auto'): SlotLimits =>
  jobs === 'auto' ? { least: 10, most: 100 } : { least: jobs, most: jobs };

/** For a process that executes no runs. */
export const noSlots: SlotLimits = { least: 0, most: 0 };
