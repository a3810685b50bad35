import { readFileSync } from "node:fs";
import { IpamError } from "../core/index.ts";
import type { ClusterNode } from "../schema/node.ts";
import { checkNodes, readNodes } from "../schema/read-nodes.ts";

/** A node and the labels that node selectors see. */
export interface NodeProps {
  readonly name: string;
  readonly labels: { readonly [key: string]: string };
}

/** The nodes that a policy is for. */
export class Nodes {
  /** Reads what `kubectl get nodes` prints (-o json, yaml or name), or a list of names, one on a line. */
  static fromFile(path: string): Nodes {
    return new Nodes(readNodes({ path, text: textOf(path) }));
  }

  /** Nodes by name alone; the name is taken to be their hostname label. */
  static named(...names: string[]): Nodes {
    return Nodes.checked(names.map((name) => ({ name })));
  }

  /** Nodes with their labels, `kubernetes.io/hostname` among them. */
  static of(...nodes: NodeProps[]): Nodes {
    return Nodes.checked(nodes);
  }

  private static checked(rows: readonly { name: string; labels?: NodeProps["labels"] }[]): Nodes {
    const { nodes, issues } = checkNodes(rows);
    if (issues.length > 0) throw new IpamError("invalid", issues);
    // As of a file that lists none: a list that came out empty by a slip would release everything.
    if (nodes.length === 0)
      throw new IpamError("invalid", "no nodes are given", {
        hint: "Where no node is to have it, leave the policy out.",
      });
    return new Nodes(nodes);
  }

  /** @internal */
  readonly all: readonly ClusterNode[];

  private constructor(all: readonly ClusterNode[]) {
    this.all = all;
  }

  /** Their names. */
  get names(): string[] {
    return this.all.map(({ name }) => name);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new IpamError("invalid", `nodes cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
