// What the value of `command.resume` answers, as the engine decides it.

/** The ids of the interrupts that a resume value names; undefined when it names none, and so answers all that wait. */
export const namedInterrupts = (resume: unknown): string[] | undefined => {
  if (typeof resume !== 'object' || resume === null) return undefined;
  const keys = Object.keys(resume);
  return keys.every((key) => /^[0-9a-f]{32}$/.test(key)) ? keys : undefined;
};

/** The engine takes a falsy value for none. */
export const isAnswer = (resume: unknown): boolean => Boolean(resume);
