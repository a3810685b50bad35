/** How often to try: `full` times where NODEIPPOOL_LONG is set, as before a release; else as often as finds a slip soon. */
export function tries(usual: number, full: number): number {
  return process.env.NODEIPPOOL_LONG === undefined ? usual : full;
}
