/** While it is on a NodeIPPool, the API server does not delete the pool. */
export const finalizer = "nmstate.io/nodeippool-in-use";

/**
 * The finalizers that a pool is to have; undefined if it has them.
 *
 *  lines of it on record | our finalizer
 *  ----------------------+------------------------------
 *  some                  | is there: a pool in use stays
 *  none                  | is not
 */
export function finalizersFor(there: readonly string[], isInUse: boolean): readonly string[] | undefined {
  if (there.includes(finalizer) === isInUse) return undefined;
  return isInUse ? [...there, finalizer] : there.filter((one) => one !== finalizer);
}
