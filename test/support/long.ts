/** How often to try: `full` times where NODEIPPOOL_LONG is set, as before a release; else as often as finds a slip soon. */
export function tries(usual: number, full: number): number;
/** What to do: the whole where NODEIPPOOL_LONG is set. */
export function tries<T>(usual: T, full: T): T;
export function tries<T>(usual: T, full: T): T {
  return process.env.NODEIPPOOL_LONG === undefined ? usual : full;
}
