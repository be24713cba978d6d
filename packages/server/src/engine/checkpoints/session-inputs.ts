// Inputs that were sent into the run of a session, from the command that has them until a flush ends the runs that hold them.
import type { PendingWrite } from '@langchain/langgraph-checkpoint';
import { isOfCommand } from './task-writes.ts';

type Writes = [
  ns: string,
  checkpoint: string,
  writes: PendingWrite[],
  task_id: string,
  task_path: string | undefined,
];

export class SessionInputs {
  readonly #put: (...writes: Writes) => void;
  /** Those that the next command contains, and its writes. */
  #given: { run_ids: readonly string[]; writes?: Writes } | undefined;
  /** Inputs with writes that are not in a flush yet. */
  #written: readonly string[] | undefined;
  /** Those of the last drain. */
  drained: readonly string[] | undefined;

  constructor(put: (...writes: Writes) => void) {
    this.#put = put;
  }

  /** The next command of the engine contains the inputs of these runs. Its writes wait until it is known that the engine can apply them. */
  give(run_ids: readonly string[]): void {
    this.#given = { run_ids };
  }

  /** True for the writes of the command. */
  hold(put: Writes): boolean {
    const [ns, , writes, task_id] = put;
    if (!this.#given || ns !== '' || !writes.some(([channel]) => isOfCommand(task_id, channel))) return false;
    this.#given.writes = put;
    return true;
  }

  /** The engine has applied the inputs. */
  confirm(): void {
    const { run_ids, writes } = this.#given ?? {};
    this.#given = undefined;
    if (!writes) return;
    this.#written = run_ids;
    this.#put(...writes);
  }

  /** The engine has not applied the inputs. Returns their runs. */
  drop(): readonly string[] {
    const { run_ids = [] } = this.#given ?? {};
    this.#given = undefined;
    return run_ids;
  }

  drain(): void {
    this.drained = this.#written;
    this.#written = undefined;
  }
}
