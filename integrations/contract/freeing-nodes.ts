/** On which nodes pods that never end lose their addresses. */
export type FreeingNodes = "never" | "ready-nodes" | "all-nodes";
