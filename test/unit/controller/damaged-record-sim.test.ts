import { expect, it } from "vitest";
import { IpamError } from "../../../core/index.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { Refusal } from "../../../kube/refusal.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { tries } from "../../support/long.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import { seeded } from "../../support/seeded.ts";
import type { SimController } from "../../support/sim/controller.ts";
import { simWithMaps } from "../../support/sim/maps.ts";

// Somebody damages a part of the record, deletes it and brings it back at random moments, and the API server refuses to write it, while
// controllers, nodes, claims and pods come and go.

const integrations: readonly ClusterIntegration[] = integrationsInCluster({
  clusterApi: "v1beta2",
  workloadAddresses: true,
});
const part = "ippool.default.10.0.1.0-24";

const capiClaim = (name: string, from: string) => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name, namespace: "default" },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: from } },
});

class History {
  private isRefused = false;
  private readonly known = simWithMaps(integrations, async (request, run) => {
    if (this.isRefused && request === `put ${part}`) throw refusedWrite();
    return run();
  });
  private readonly first = this.known.sim;
  private controllers: SimController[] = [this.first];
  private readonly random: () => number;
  private whole: unknown;
  private made = 0;
  private claims: string[] = [];
  private replicas = 1;
  /** The address that each pod of the set was told. */
  private readonly told = new Map<string, string>();
  damages = 0;

  constructor(seed: number) {
    this.random = seeded(seed);
    for (const [i, name] of ["bad", "good"].entries()) {
      this.first.create(pool(name, i + 1, 60) as never);
      this.first.create(policy(`of-${name}`, name, `eth${i + 1}`, { maxUnavailable: "100%" }) as never);
    }
    this.first.create(macvlanNetwork("net", "*ad, *ood"));
    this.first.create(workload("StatefulSet", "set", { replicas: 1 }, "net"));
    this.first.node("n0");
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) for (const one of this.controllers) await one.pass(500);
  }

  async step(): Promise<void> {
    const does = [
      () => this.damage(),
      () => this.damage(),
      () => this.mend(),
      () => this.join(),
      () => this.claim(),
      () => this.unclaim(),
      () => this.restart(),
      () => this.scale(),
      () => this.loseTold(),
      () => this.refuse(!this.isRefused),
    ];
    does[Math.floor(this.random() * does.length)]?.();
    await this.pass(500 + Math.floor(this.random() * 20) * 500);
    this.check();
  }

  /** A node and a claim that come now are served from the pool that is sound, at the usual speed. */
  async checkServed(): Promise<void> {
    const node = this.join();
    const claim = this.claim("good");
    await this.pass(10_000);
    expect(this.first.object("NodeNetworkConfigurationPolicy", `of-good--${node}`)).toBeDefined();
    expect(this.first.object("IPAddress", claim)).toBeDefined();
    if (this.whole === undefined) return;
    const { conditions } = asBag(this.first.object("NodeIPPool", "bad")?.status) ?? {};
    expect(conditionOf(conditions, "Available")).toMatchObject({ reason: "UnsynchronizedIPPool" });
    expect(conditionOf(conditions, "Available")?.message).toMatch(/ConfigMap net\/\S+10\.0\.1\.0-24.*[Pp]ut/s);
  }

  async end(): Promise<void> {
    this.mend();
    this.refuse(false);
    await this.pass(180_000);
    this.check();
    for (const { metadata } of this.first.all("Node"))
      for (const name of ["bad", "good"])
        expect(this.first.object("NodeNetworkConfigurationPolicy", `of-${name}--${metadata.name}`)).toBeDefined();
    const { allocations, releasing } = await this.known.others.read();
    const all = allocations.map(({ claim }) => claim);
    const lines = all.join();
    for (const claim of this.claims) expect(lines).toContain(`IPAddressClaim/default:${claim}/`);
    expect(all.filter((claim, i) => all.indexOf(claim) !== i && claim.startsWith("StatefulSet/"))).toEqual([]);
    expect(this.told.size).toBe(this.replicas);
    expect(releasing).toEqual([]);
  }

  /** No address is in two objects, and none of a pod is another one than before. */
  private check(): void {
    const children = this.first
      .all("NodeNetworkConfigurationPolicy")
      .filter(({ metadata }) => metadata.name.includes("--"));
    const ofNodes = children.flatMap(({ spec }) => JSON.stringify(spec).match(/10\.0\.\d\.\d+(?=")/g) ?? []);
    const ofClaims = this.first.all("IPAddress").map(({ spec }) => `${asBag(spec)?.address}`);
    const pods = Object.entries(asBag(this.first.object("ConfigMap", "nodeippool-set")?.data) ?? {});
    const ofPods = pods.map(([pod, text]) => [pod, /10[.\d]+/.exec(`${text}`)?.[0] ?? ""] as const);
    for (const [pod, address] of ofPods) {
      expect(`${pod} ${this.told.get(pod) ?? address}`).toBe(`${pod} ${address}`);
      this.told.set(pod, address);
    }
    const found = [...ofNodes, ...ofClaims, ...ofPods.map(([, address]) => address)];
    expect(found.length).toBe(new Set(found).size);
  }

  private damage(): void {
    const { cluster, edit } = this.known;
    const there = cluster.maps.get(part);
    if (there === undefined || this.whole !== undefined) return;
    this.whole = there;
    this.damages++;
    edit(part, () => (this.random() < 0.5 ? undefined : "nothing"));
  }

  private mend(): void {
    if (this.whole === undefined) return;
    const { cluster } = this.known;
    const revision = Math.max(...[...cluster.maps.values()].map(({ metadata }) => Number(metadata.resourceVersion)));
    const whole = this.whole as { readonly metadata: object };
    cluster.maps.set(part, {
      ...whole,
      metadata: { ...whole.metadata, resourceVersion: `${revision + 1000}` },
    } as never);
    this.whole = undefined;
  }

  private refuse(isRefused: boolean): void {
    this.isRefused = isRefused;
  }

  private scale(): void {
    const replicas = ++this.replicas;
    this.first.change("StatefulSet", "set", (one) => ({ ...one, spec: { ...asBag(one.spec), replicas } }), "default");
  }

  /** What its pods are told is gone: no object says their addresses. */
  private loseTold(): void {
    this.first.remove("ConfigMap", "nodeippool-set", "default");
  }

  private join(): string {
    const name = `n${++this.made}`;
    this.first.node(name);
    return name;
  }

  private claim(from = this.random() < 0.5 ? "bad" : "good"): string {
    const name = `c${++this.made}`;
    this.first.create(capiClaim(name, from));
    this.claims.push(name);
    return name;
  }

  private unclaim(): void {
    const name = this.claims.shift();
    if (name !== undefined) this.first.remove("IPAddressClaim", name, "default");
  }

  /** One controller dies, and another one starts; or a second one does. */
  private restart(): void {
    this.controllers = [...this.controllers, this.known.beside()].slice(-2);
  }
}

function refusedWrite(): IpamError {
  const body = JSON.stringify({ kind: "Status", message: "exceeded quota" });
  return new IpamError("invalid", "exceeded quota", { cause: new Refusal({ status: 403, headers: {}, body }) });
}

it(
  "others are served at the usual speed, no address is given twice, and all is as it should be once it is brought back",
  async () => {
    const first = Number(process.env.SEED ?? 1);
    const count = Number(process.env.COUNT ?? tries(3, 300));
    let damages = 0;
    for (let seed = first; seed < first + count; seed++) {
      const history = new History(seed);
      const play = async () => {
        for (let i = 0; i < 25; i++) await history.step();
        await history.checkServed();
        await history.end();
      };
      await play().catch((error) => {
        throw new Error(`seed ${seed}: ${error.message}`);
      });
      damages += history.damages;
    }
    expect(damages).toBeGreaterThan(count);
  },
  60_000 + Number(process.env.COUNT ?? tries(3, 300)) * 5_000,
);
