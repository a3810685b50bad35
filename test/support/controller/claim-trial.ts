import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, Objects, Stored } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

const ipam = "ipam.cluster.x-k8s.io";
const claims = { apiVersion: `${ipam}/v1beta2`, plural: "ipaddressclaims" };
const addresses = { apiVersion: `${ipam}/v1beta2`, plural: "ipaddresses" };
const clusters = { apiVersion: "cluster.x-k8s.io/v1beta2", plural: "clusters" };
const manager = { manager: "tests", force: true };

/** What a case wants of a pool, by the last numbers of its addresses. */
export interface PoolWish {
  readonly ranges: readonly (readonly [number, number])[];
  readonly gateway?: number;
  readonly excluded?: readonly number[];
  readonly graceSeconds?: number;
  readonly allocatesReserved?: boolean;
  readonly isPaused?: boolean;
}

/** A provider of addresses for Cluster API, as the cases meet it. */
export interface Provider {
  readonly name: string;
  readonly pools: { readonly apiVersion: string; readonly plural: string };
  readonly kind: string;
  spec(wish: PoolWish, prefix: string): Bag;
  /** The pool's status: how many addresses there are, and how many are used and free. */
  counts(status: Bag): readonly unknown[];
}

export const ours: Provider = {
  name: "nodeippool",
  pools: { apiVersion: "nmstate.io/v1", plural: "nodeippools" },
  kind: "NodeIPPool",
  spec: ({ ranges: [first, ...more], gateway, excluded, graceSeconds }, prefix) => ({
    range: {
      cidr: `${prefix}0/24`,
      start: `${prefix}${first?.[0]}`,
      end: `${prefix}${first?.[1]}`,
      ...(excluded && { exclude: excluded.map((n) => `${prefix}${n}`) }),
    },
    ...(more.length > 0 && {
      additionalRanges: more.map(([a, b]) => ({ start: `${prefix}${a}`, end: `${prefix}${b}` })),
    }),
    ...(gateway !== undefined && { gateway: `${prefix}${gateway}` }),
    ...(graceSeconds !== undefined && { addressReuseGracePeriodSeconds: graceSeconds }),
    authority: "Cluster",
  }),
  counts: ({ capacity, allocated, free }) => [capacity, allocated, free].map(Number),
};

export const inCluster: Provider = {
  name: "the in-cluster provider",
  pools: { apiVersion: `${ipam}/v1alpha2`, plural: "globalinclusterippools" },
  kind: "GlobalInClusterIPPool",
  spec: ({ ranges, gateway, excluded, graceSeconds, allocatesReserved }, prefix) => ({
    addresses: ranges.map(([a, b]) => `${prefix}${a}-${prefix}${b}`),
    prefix: 24,
    ...(gateway !== undefined && { gateway: `${prefix}${gateway}` }),
    ...(excluded && { excludedAddresses: excluded.map((n) => `${prefix}${n}`) }),
    ...(graceSeconds !== undefined && { addressReuseGracePeriodSeconds: graceSeconds }),
    ...(allocatesReserved && { allocateReservedIPAddresses: true }),
  }),
  counts: ({ ipAddresses }) => {
    const { total, used, free } = asBag(ipAddresses) ?? {};
    return [total, used, free];
  },
};

/** How long a provider has for what it is to do, and how long it is watched where it is to do nothing, in milliseconds. */
const [limit, pause] = [60_000, 2_500];

/** One case on one provider: its own namespace, its own subnet, its own pool. */
export class Trial {
  readonly namespace: string;
  readonly prefix: string;
  /** The name of a namespace and of a pool that no case touches. */
  private readonly other: string;
  private readonly provider: Provider;
  private readonly kube: Objects;
  constructor(kube: Objects, provider: Provider, number: number) {
    this.kube = kube;
    this.provider = provider;
    this.namespace = `case-${number}`;
    this.other = `${this.namespace}-other`;
    this.prefix = `10.77.${number}.`;
  }

  async open(): Promise<this> {
    for (const name of [this.namespace, `${this.namespace}-b`, this.other])
      await this.kube.create({ apiVersion: "v1", plural: "namespaces" }, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      } as KubeObject);
    return this;
  }

  /** Creates the pool, or makes it what is wished now. */
  async pool(wish: PoolWish): Promise<void> {
    const { pools, kind } = this.provider;
    const annotations = wish.isPaused ? { "cluster.x-k8s.io/paused": "" } : {};
    const metadata = { name: this.namespace, annotations };
    const spec = this.provider.spec(wish, this.prefix);
    await this.kube.apply(pools, { apiVersion: pools.apiVersion, kind, metadata, spec } as KubeObject, manager);
  }
  poolRef(): Bag {
    return { apiGroup: this.provider.pools.apiVersion.split("/")[0], kind: this.provider.kind, name: this.namespace };
  }
  removePool = async (): Promise<void> => this.remove(this.provider.pools, this.namespace);
  hasPool = async () => (await this.getPool()) !== undefined;
  /** Has the provider seen to it that the pool is there for as long as its addresses are? */
  isProtected = async () => asList(asBag((await this.getPool())?.metadata)?.finalizers).length > 0;
  private getPool = () => this.kube.get<KubeObject & Bag>(this.provider.pools, this.namespace);
  async counts(): Promise<readonly unknown[]> {
    return this.provider.counts(asBag((await this.getPool())?.status) ?? {});
  }

  async claim(name: string, spec: Bag = {}, metadata: Bag = {}): Promise<void> {
    const object = { namespace: this.namespace, name, ...metadata };
    await this.kube.create(claims, {
      apiVersion: claims.apiVersion,
      kind: "IPAddressClaim",
      metadata: object,
      spec: { poolRef: this.poolRef(), ...spec },
    } as KubeObject);
  }
  /** Creates a claim, and waits until it has an address. */
  async served(name: string, spec: Bag = {}, metadata: Bag = {}): Promise<void> {
    await this.claim(name, spec, metadata);
    await this.until(async () => (await this.given())[name] !== undefined);
  }
  getClaim = (name: string) => this.kube.get<KubeObject & Bag>(claims, name, this.namespace);
  getAddress = (name: string) => this.kube.get<KubeObject & Bag>(addresses, name, this.namespace);
  removeClaim = (name: string) => this.remove(claims, name, this.namespace);
  removeAddress = (name: string) => this.remove(addresses, name, this.namespace);
  /** Creates an IPAddress as another program does. */
  async strange(name: string, n: number, metadata: Bag = {}): Promise<void> {
    const spec = { claimRef: { name }, poolRef: this.poolRef(), address: `${this.prefix}${n}`, prefix: 24 };
    await this.kube.create(addresses, {
      apiVersion: addresses.apiVersion,
      kind: "IPAddress",
      metadata: { name, namespace: this.namespace, ...metadata },
      spec,
    } as KubeObject);
  }
  /** Changes annotations of a claim, or finalizers. */
  change = (name: string, metadata: Bag) =>
    this.kube.patch(claims, name, this.namespace, { metadata }, { type: "merge" });

  async cluster(spec: Bag = {}, annotations: Bag = {}): Promise<void> {
    const whole = { clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] } }, ...spec };
    const metadata = { name: "c", namespace: this.namespace, annotations };
    await this.kube.apply(
      clusters,
      { apiVersion: clusters.apiVersion, kind: "Cluster", metadata, spec: whole } as KubeObject,
      manager,
    );
  }

  /** The last number of each address that a claim has. */
  async given(namespace = this.namespace): Promise<Record<string, number>> {
    const all = await this.kube.list<Stored<KubeObject & Bag>>(addresses, { namespace });
    const numbers = all.map(
      ({ metadata, spec }) => [metadata.name, Number(`${asBag(spec)?.address}`.slice(this.prefix.length))] as const,
    );
    return Object.fromEntries(numbers.sort());
  }
  /** The owners of an IPAddress, each with what its reference says, and how many finalizers it has. */
  async bonds(name: string): Promise<readonly unknown[]> {
    const { ownerReferences, finalizers } = asBag((await this.getAddress(name))?.metadata) ?? {};
    const owners = asList(ownerReferences).map((one) => {
      const { kind, controller = false, blockOwnerDeletion = false } = asBag(one) ?? {};
      return `${kind === this.provider.kind ? "pool" : kind} ${controller} ${blockOwnerDeletion}`;
    });
    return [owners.sort(), asList(finalizers).length];
  }
  /** Waits until it is so, or the provider has had its time; the case says then what there is. */
  async until(isSo: () => Promise<boolean>, ms = limit): Promise<boolean> {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(200)) if (await isSo()) return true;
    return false;
  }
  /** Waits until there are so many addresses, and then a while, in which nothing else is to happen. */
  async has(count: number): Promise<Record<string, number>> {
    await this.until(async () => Object.keys(await this.given()).length === count);
    return this.settled();
  }
  /** What there is after a while, in which the provider has served a claim that came later. */
  async settled(): Promise<Record<string, number>> {
    await sleep(pause);
    await this.serveAnother();
    return this.given();
  }
  private async serveAnother(): Promise<void> {
    const { pools, kind } = this.provider;
    const spec = this.provider.spec({ ranges: [[10, 200]] }, this.prefix.replace(".77.", ".78."));
    const pool = { apiVersion: pools.apiVersion, kind, metadata: { name: this.other }, spec };
    await this.kube.apply(pools, pool as KubeObject, manager);
    const before = Object.keys(await this.given(this.other)).length;
    const metadata = { namespace: this.other, name: `c${before}` };
    await this.claim(metadata.name, { poolRef: { ...this.poolRef(), name: this.other } }, metadata);
    await this.until(async () => Object.keys(await this.given(this.other)).length > before);
  }
  isGone = (name: string, ms = limit) => this.until(async () => (await this.getClaim(name)) === undefined, ms);

  private async remove(
    resource: { apiVersion: string; plural: string },
    name: string,
    namespace?: string,
  ): Promise<void> {
    // The provider may change it at the same moment.
    await this.until(async () => {
      const object = await this.kube.get(resource, name, namespace);
      if (object === undefined || asBag(object.metadata)?.deletionTimestamp !== undefined) return true;
      await this.kube.delete(resource, object).catch(() => {});
      return false;
    });
  }
}
