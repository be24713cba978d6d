// Counters, gauges and histograms of one registry.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class Instruments {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  /** A histogram of durations. `longer`: buckets of more than a minute. */
  seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    longer: number[] = [],
  ): Histogram<Label> {
    const buckets = [...secondsBuckets, ...longer];
    return new Histogram({ name, help, labelNames, buckets, registers: this.#registers });
  }

  /** A counter of which the total is known. The result sets it. */
  total(name: string, help: string): (value: number) => void {
    const counter = this.counter(name, help);
    return (value) => {
      counter.reset();
      counter.inc(value);
    };
  }

  /** A counter of which the totals are known, by one label. The result sets them; the `initial` values of the label are reported from the start. */
  totals(
    name: string,
    help: string,
    label: string,
    initial: readonly string[] = [],
  ): (totals: ReadonlyMap<string, number>) => void {
    const counter = this.counter(name, help, [label]);
    return (totals) => {
      counter.reset();
      for (const value of initial) counter.inc({ [label]: value }, 0);
      for (const [value, total] of totals) counter.inc({ [label]: value }, total);
    };
  }
}
