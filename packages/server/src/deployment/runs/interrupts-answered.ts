import { Problem } from '@svc/contract/problem';

/** A run answers interrupts at which its thread does not wait any more. */
export class InterruptsAnswered extends Problem {
  constructor() {
    super('conflict', 'The thread does not wait at these interrupts any more');
  }
}
