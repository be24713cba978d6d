// Which interrupts the resume value of a command answers. The engine decides the same from the form of the value.

/** True for an object whose keys are ids of interrupts. The engine applies any other value, also an empty object, to all interrupts. */
export const namesInterrupts = (resume: unknown): resume is Readonly<Record<string, unknown>> =>
  typeof resume === 'object' &&
  resume !== null &&
  Object.keys(resume).length > 0 &&
  Object.keys(resume).every((key) => /^[0-9a-f]{32}$/.test(key));
