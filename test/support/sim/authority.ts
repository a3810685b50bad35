import { type Allocation, formatAddress } from "../../../core/index.ts";
import { asBag } from "../../../schema/objects.ts";
import { Game, type Kind } from "./game.ts";

const resource = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };

/** A line of a node that its policy selects when its pool is left to a plan. */
interface Held {
  readonly line: Allocation;
  readonly node: unknown;
  readonly pool: unknown;
}

/** A game in which people also change who allocates from pools `p` and `q`. */
export class AuthorityGame extends Game {
  changes = 0;
  private readonly held = new Map<string, Held>();

  protected override change(): void {
    const name = ["p", "q"][this.pick(2)] as string;
    if (this.pick(8) === 0 && this.find("NodeIPPool", name) !== undefined) this.toggleAuthority(name);
    else super.change();
  }

  /** At every moment: a node that was selected keeps its line for as long as a plan has the pool, whatever becomes of its policy. */
  protected override check(): void {
    super.check();
    const lines = new Map(this.record.allocations.map(({ claim, address }) => [claim, address]));
    for (const [claim, { line, node, pool }] of this.held) {
      const isSame = this.uidOf("Node", nodeOf(line)) === node && this.uidOf("NodeIPPool", line.pool) === pool;
      if (!isSame || !this.isPlanned(line.pool)) this.held.delete(claim);
      else if (lines.get(claim) !== line.address)
        throw this.broken(`${claim} lost ${formatAddress(line.address)} while a plan has the pool`);
    }
  }

  override async calm(): Promise<void> {
    for (const name of ["p", "q"]) if (this.isPlanned(name)) this.toggleAuthority(name);
    await super.calm();
  }

  private toggleAuthority(name: string): void {
    const authority = this.isPlanned(name) ? "Cluster" : "Plan";
    this.changes++;
    this.trace.push(`pool ${name} has authority ${authority}`);
    this.server.change(resource as never, name, (one) => ({ ...one, spec: { ...asBag(one.spec), authority } }));
    const lines = authority === "Plan" ? this.record.allocations : [];
    for (const line of lines.filter(({ pool }) => pool === name)) {
      const [, , policy = ""] = line.claim.split("/");
      const node = this.find("Node", nodeOf(line));
      const isSelected = asBag(node?.metadata.labels)?.role === "worker";
      if (isSelected && this.find("NodeNetworkConfigurationPolicy", policy) !== undefined)
        this.held.set(line.claim, { line, node: node?.metadata.uid, pool: this.uidOf("NodeIPPool", name) });
    }
  }

  private find(kind: Kind, name: string) {
    return this.all(kind).find(({ metadata }) => metadata.name === name);
  }

  private uidOf(kind: Kind, name: string): unknown {
    return this.find(kind, name)?.metadata.uid;
  }

  private isPlanned(pool: string): boolean {
    return asBag(this.find("NodeIPPool", pool)?.spec)?.authority === "Plan";
  }
}

function nodeOf({ claim }: Allocation): string {
  return claim.split("/")[1] ?? "";
}
