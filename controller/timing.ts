/**
 * The record is changed by compare-and-swap, but nothing compares when an object is made of it: what was read may be
 * outdated by then, because another controller gave the address back meanwhile, or this one was stopped for a while. So
 * what is written is never older than `send`, and an address is not free before `hold`: whoever still makes something of
 * an older record is done by then. It is read every now and then while an address is held back: between two readings that are
 * farther apart than `see`, the address may have been live. No clock is ever compared with another one, and waiting longer than
 * that is right, too.
 *
 *  fresh + send + request + see < hold
 */
export const timing = {
  /** The record is read anew for a decision when it was read so long ago, in milliseconds. */
  fresh: 2_000,
  /** An object is written at most so long after the record was read. */
  send: 5_000,
  /** A request that was not answered in so long is given up. */
  request: 10_000,
  /** What was releasing at two readings of the record no farther apart was so in between. */
  see: 5_000,
  /** An address is free at the earliest so long after this controller saw it releasing. */
  hold: 25_000,
  /** The record is read anew after so long, to see what others have changed: `release`, another controller, a hand. */
  reread: 10_000,
  /** How long a status waits for what else changes. */
  settle: 100,
  /** How long it waits for how others fare: a rollout has thousands of them, and each report looks at all. */
  gather: 1_000,
  /** After so long everything is looked at once more, and it is found out what is gone: it mends what nobody thought of. */
  again: 10 * 60_000,
  /** When it is told to stop, it waits at most so long for what is in flight. */
  stop: 9_000,
} as const;

/** A test may be in more of a hurry, in the same proportions. */
export type Timing = { readonly [each in keyof typeof timing]: number };
