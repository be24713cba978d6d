import type { Difference } from '../compare.ts';
import { isScenario, matcherOf, type ListedDifference } from './difference.ts';

/** The patterns of listed differences, and which of them have occurred. */
export class ListedPatterns {
  readonly #patterns;

  constructor(listed: readonly ListedDifference[]) {
    this.#patterns = listed
      .flatMap(({ where, mayBeSame = false }) =>
        Object.entries(where).map((entry) => [...entry, mayBeSame] as const),
      )
      .flatMap(([scenario, patterns, mayBeSame]) =>
        patterns.map((pattern) => ({
          scenario,
          pattern,
          matches: matcherOf(pattern),
          isTaken: mayBeSame,
        })),
      );
  }

  /** True if the difference is listed. */
  take(scenario: string, difference: Difference): boolean {
    const matching = this.#patterns.filter(
      (one) => isScenario(one.scenario, scenario) && one.matches(difference),
    );
    for (const one of matching) one.isTaken = true;
    return matching.length > 0;
  }

  /** The patterns that match no difference. */
  untaken(): string[] {
    return this.#patterns
      .filter(({ isTaken }) => !isTaken)
      .map(({ scenario, pattern }) => `${scenario}: ${pattern}`);
  }
}
