// What an import has brought, and what it has left out.

export interface LeftOut {
  kind: 'thread' | 'run' | 'assistant' | 'item' | 'file';
  id: string;
  reason: string;
  /** Whether the operator can do something about it. Others are left out on purpose. */
  isFault: boolean;
}

export interface Count {
  imported: number;
  /** Was here already, and is not changed. */
  existing: number;
  left_out: number;
}

export interface MigrationReport {
  dry_run: boolean;
  threads: Count & { checkpoints: number };
  runs: Omit<Count, 'existing'>;
  assistants: Count & { versions: number };
  items: Count;
  left_out: LeftOut[];
  /** What was imported, but is not complete. */
  notices: string[];
}

const none = (): Count => ({ imported: 0, existing: 0, left_out: 0 });

export class MigrationLog {
  readonly report: MigrationReport;

  constructor(dry_run: boolean) {
    this.report = {
      dry_run,
      threads: { ...none(), checkpoints: 0 },
      runs: { imported: 0, left_out: 0 },
      assistants: { ...none(), versions: 0 },
      items: none(),
      left_out: [],
      notices: [],
    };
  }

  leaveOut(kind: LeftOut['kind'], id: string, reason: string, { isFault }: { isFault: boolean }): void {
    const { report } = this;
    report.left_out.push({ kind, id, reason, isFault });
    if (kind !== 'file') report[`${kind}s`].left_out += 1;
  }
}
