// Work that anyone may ask for at any time, and that is done by one at a time: who asks while it is under way has it
// done once more.
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

  /** No more of it; resolves when none is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#doing;
  }
}
