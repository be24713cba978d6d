// Lanes of checkpoints, as a commit graph has them: the newest path is lane 0, and each fork has a lane of its own until it meets it.

export interface Step {
  checkpoint_id: string | null;
  parent_checkpoint_id: string | null;
}

export interface Lane {
  /** The column of the checkpoint's dot. */
  lane: number;
  /** Columns with a line that passes or starts at the checkpoint. */
  lines: number[];
  /** Columns whose checkpoints are children of this one: their lines end here. */
  joins: number[];
}

/** `newestFirst`: a child is before its parent. A parent may be missing, because it was pruned or is on a later page. */
export const layLanes = (newestFirst: readonly Step[]): Lane[] => {
  /** The checkpoint that each column waits for. */
  const waiting: (string | null)[] = [];
  return newestFirst.map(({ checkpoint_id: id, parent_checkpoint_id: parent }) => {
    const columns = waiting.flatMap((wanted, column) => (wanted === id && id !== null ? [column] : []));
    const free = waiting.indexOf(null);
    const lane = columns[0] ?? (free === -1 ? waiting.length : free);
    const joins = columns.slice(1);
    for (const column of joins) waiting[column] = null;
    waiting[lane] = parent;
    const lines = waiting.flatMap((wanted, column) => (wanted !== null || column === lane ? [column] : []));
    return { lane, lines, joins };
  });
};
