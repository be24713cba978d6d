// How many runs an executor executes at a time: between `least` and `most`, by its admission.

export interface SlotLimits {
  readonly least: number;
  readonly most: number;
}

/** `jobs`: the setting. `jobsMax`: the largest automatic number. */
export const slotLimits = (jobs: number | 'auto', jobsMax: number): SlotLimits =>
  jobs === 'auto' ? { least: Math.min(10, jobsMax), most: jobsMax } : { least: jobs, most: jobs };

/** For a process that executes no runs. */
export const noSlots: SlotLimits = { least: 0, most: 0 };
