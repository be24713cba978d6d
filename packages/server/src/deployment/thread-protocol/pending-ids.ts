/** Ids of the interrupts that a run has left. `interrupts`: lists by task, as a JSON text. */
export const pendingIds = (interrupts: string): Set<string> => {
  const byTask = JSON.parse(interrupts) as Record<string, { id?: string }[]>;
  return new Set(Object.values(byTask).flatMap((list) => list.flatMap(({ id }) => id ?? [])));
};
