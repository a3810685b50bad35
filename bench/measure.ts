/** What measured code gives is left here, where anybody could read it: no compiler may drop the work. */
export const sink: { value: unknown } = { value: undefined };

/** One line of the table. */
export interface Result {
  readonly name: string;
  /** The median of the samples. */
  readonly figure: number;
  /** The fastest sample: nearer to the truth than the median where others use the machine too. */
  readonly best: number;
  readonly unit: "ns" | "ms" | "MiB" | "bytes" | "writes" | "requests" | "requests/s";
  /** In the same unit; printed beside the figure, never enforced. */
  readonly goal?: number;
  readonly ratios?: readonly Ratio[];
}

/** Our time divided by the time of something else that was measured in turn with it. */
export interface Ratio {
  readonly to: string;
  readonly value: number;
}

/** A way to take one sample: a time in any unit. */
export type Sample = () => number;

/**
 * Milliseconds that one call takes. The young garbage of whoever was measured before is cleared away first; not the
 * old: after a full collection V8 makes its nursery small, and the next call would pay for that.
 */
export function time(work: () => unknown): number {
  globalThis.gc?.({ type: "minor" });
  const start = performance.now();
  sink.value = work();
  return performance.now() - start;
}

/** A sample of a whole call, in milliseconds. */
export function once(work: () => unknown): Sample {
  return () => time(work);
}

/** A sample of a short operation: nanoseconds each, averaged over a loop that takes 20 milliseconds or more. */
export function perOperation(loop: (count: number) => unknown): Sample {
  let count = 1;
  const run = () => time(() => loop(count));
  // The faster of two: a pause in one of them must not make the loop too short to measure.
  while (run() < 20 || run() < 20) count *= 2;
  return () => (time(() => loop(count)) * 1e6) / count;
}

/** How long to measure. */
export interface Effort {
  readonly rounds: number;
  /** Milliseconds of warm-up for each sample; one sample at least. */
  readonly warmUp: number;
}

/** Fewer rounds and less warm-up where time is short. */
export function effort(short: boolean, rounds: number): Effort {
  return short ? { rounds: Math.min(rounds, 3), warmUp: 50 } : { rounds, warmUp: 333 };
}

/** Takes samples of each in turn: whatever else the machine does in that time hits all of them alike. */
export function inTurn<K extends string>(
  { rounds, warmUp }: Effort,
  samples: Readonly<Record<K, Sample>>,
): Record<K, number[]> {
  const names = Object.keys(samples) as K[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (const name of names) {
    const start = performance.now();
    for (let i = 0; i < 20 && (i === 0 || performance.now() - start < warmUp); i++) samples[name]();
  }
  for (let round = 0; round < rounds; round++) for (const name of names) taken[name].push(samples[name]());
  return taken;
}

/** The figures of a list of samples. */
export function figures(samples: readonly number[]): Pick<Result, "figure" | "best"> {
  return { figure: median(samples), best: Math.min(...samples) };
}

function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values), 0.5);
}

/** Sorts the values. */
function percentile(values: Float64Array, share: number): number {
  values.sort();
  return values[Math.min(Math.floor(values.length * share), values.length - 1)] as number;
}

/** The median of the ratios of samples that were taken in turn, `ours / others`. */
export function ratio(to: string, ours: readonly number[], others: readonly number[]): Ratio {
  return { to, value: median(ours.map((value, i) => value / (others[i] as number))) };
}

/** Operations in a batch of `tailOf`. */
export const batchSize = 8;

/**
 * The 99.9th percentile of an operation in nanoseconds: of the means of 40,000 batches of 8, less what reading the
 * clock takes (the median of empty batches). One such percentile for each round.
 */
export function tailOf(rounds: number, operation: (i: number) => unknown): number[] {
  const batches = new Float64Array(40_000);
  const clock = percentile(
    batches.map(() => batch(0, 0, operation)),
    0.5,
  );
  const tails = Array.from({ length: rounds + 1 }, () => {
    globalThis.gc?.({ type: "minor" });
    for (let i = 0; i < batches.length; i++) batches[i] = batch(i * batchSize, batchSize, operation);
    return (percentile(batches, 0.999) - clock) / batchSize;
  });
  return tails.slice(1);
}

function batch(from: number, count: number, operation: (i: number) => unknown): number {
  const start = performance.now();
  for (let i = from; i < from + count; i++) sink.value = operation(i);
  return (performance.now() - start) * 1e6;
}
