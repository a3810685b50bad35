/** What a check of one address on one NIC came to. */
export interface Detection {
  readonly kind: keyof typeof kinds;
  readonly address: string;
  readonly nic: string;
  /** The MAC address of who answers; `unknown` where the kernel alone has heard it. */
  readonly mac?: string;
  /** Why nobody could be asked. */
  readonly reason?: string;
}

/** What a detection is called, whether a pod must not start with it, and what it means. */
const kinds = {
  conflict: { blocks: true, means: "another host answers for this address" },
  unreachable: { blocks: true, means: "the gateway does not answer" },
  failed: { blocks: true, means: "nobody could be asked" },
  "not-detected": { blocks: false, means: "nobody else answers for this address; a host that is silent may have it" },
  reachable: { blocks: false, means: "the gateway answers" },
} as const;

/** Returns whether a pod must not start with it. */
export function blocks({ kind }: Detection): boolean {
  return kinds[kind].blocks;
}

/**
 * A detection as one line, which a container also leaves behind as its termination message. What stands in brackets is for
 * people and may change; the words before it may not:
 *
 *  conflict ADDRESS NIC MAC (...)
 *  unreachable ADDRESS NIC (...)
 *  failed ADDRESS NIC (...)
 *  not-detected ADDRESS NIC (...)
 *  reachable ADDRESS NIC MAC (...)
 */
export function formatDetection({ kind, address, nic, mac, reason }: Detection): string {
  const words = [kind, address, nic, ...(mac === undefined ? [] : [mac])];
  return `${words.join(" ")} (${reason ?? kinds[kind].means})`;
}
