// Work that can be triggered at any time and never runs twice at once: a trigger during the work repeats it once afterwards.
export class CoalescedTask {
  readonly #work: () => Promise<void>;
  #doing: Promise<void> | undefined;
  #isTriggeredAgain = false;
  #isStopped = false;

  /** `work` must not reject. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  trigger(): void {
    if (this.#isStopped) return;
    if (this.#doing) {
      this.#isTriggeredAgain = true;
      return;
    }
    this.#doing = this.#work().finally(() => {
      this.#doing = undefined;
      if (!this.#isTriggeredAgain) return;
      this.#isTriggeredAgain = false;
      this.trigger();
    });
  }

  /** Ignores further triggers; resolves when no work is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#doing;
  }
}
