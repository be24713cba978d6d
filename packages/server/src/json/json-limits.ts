// Limits of the JSON of one body, counted while it is parsed. A limit of bytes is not enough: a list of a million empty objects has 3
// MB on the wire and 60 MB in memory, and takes as long to parse as 100 MB of text.
import { Problem } from '@svc/contract/problem';

export interface JsonLimits {
  /** Objects, lists, texts, numbers, `true`, `false` and `null`. */
  valuesMax: number;
  /** Keys of objects. */
  keysMax: number;
  /** Nesting of objects and lists. */
  depthMax: number;
  /** Bytes of text that is created from the body, where one part of it is repeated for many others. */
  madeBytesMax: number;
}

/** For all bodies except those with traces. */
export const requestLimits: JsonLimits = {
  valuesMax: 200_000,
  keysMax: 50_000,
  depthMax: 100,
  madeBytesMax: 20_971_520,
};

/** For bodies with traces. */
export const ingestLimits: JsonLimits = {
  valuesMax: 1_000_000,
  keysMax: 500_000,
  depthMax: 512,
  madeBytesMax: 104_857_600,
};

/** Bodies with more bytes, values or keys are parsed in a parser thread. */
const inline = { bytes: 524_288, values: 50_000, keys: 10_000, madeBytes: 2_097_152 };

export const inlineBytesMax = inline.bytes;

/** The limits for bodies that are parsed on the main thread. */
export const inlineLimits = (limits: JsonLimits): JsonLimits => ({
  ...limits,
  valuesMax: Math.min(limits.valuesMax, inline.values),
  keysMax: Math.min(limits.keysMax, inline.keys),
  madeBytesMax: Math.min(limits.madeBytesMax, inline.madeBytes),
});

/** The body has more than its limits allow. */
export class BudgetExceeded extends Problem {
  constructor(what: string) {
    super('too_large', `The body has ${what}, the limit per request.`);
    this.name = 'BudgetExceeded';
  }
}

/** Counts the values and keys of all parts of one body. */
export class JsonBudget {
  readonly limits: JsonLimits;
  #values = 0;
  #keys = 0;
  #madeBytes = 0;

  constructor(limits: JsonLimits) {
    this.limits = limits;
  }

  /** Number of further values that are allowed. */
  get valuesLeft(): number {
    return this.limits.valuesMax - this.#values;
  }

  get keysLeft(): number {
    return this.limits.keysMax - this.#keys;
  }

  /** Throws when more than the limits were spent. */
  spend(values: number, keys = 0): void {
    this.#values += values;
    this.#keys += keys;
    const { valuesMax, keysMax } = this.limits;
    if (this.#values > valuesMax) throw new BudgetExceeded(`more than ${valuesMax} JSON values`);
    if (this.#keys > keysMax) throw new BudgetExceeded(`more than ${keysMax} JSON keys`);
  }

  /** Counts text that is created from the body. Throws when the total exceeds the limit. */
  make(bytes: number): void {
    this.#madeBytes += bytes;
    const { madeBytesMax } = this.limits;
    if (this.#madeBytes <= madeBytesMax) return;
    throw new BudgetExceeded(
      `parts that are repeated for many others and add up to more than ${madeBytesMax} bytes`,
    );
  }
}

/** The fault of JSON that is nested too deep. */
export const tooDeep = ({ depthMax }: JsonLimits): string => `is nested deeper than ${depthMax} levels`;
