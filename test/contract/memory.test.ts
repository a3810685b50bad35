import { memory } from "../../state/memory.ts";
import { contract } from "./state-backend.ts";

contract("memory", () => {
  const backend = memory();
  const seen: unknown[] = [];
  return {
    open: () => backend,
    stamp: async () => {
      const held = await backend.read();
      if (!seen.includes(held)) seen.push(held);
      return `version ${seen.indexOf(held)}`;
    },
  };
});
