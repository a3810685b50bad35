import * as pulumi from "@pulumi/pulumi";
import { byCodeUnit } from "../core/index.ts";
import { childName, childPolicy } from "../integrations/nmstate/child.ts";
import type { DesiredState } from "../integrations/nmstate/desired-state.ts";
import { nameIssue } from "../schema/names.ts";
import { hostnameLabel } from "../schema/node.ts";
import { customResource } from "./kubernetes.ts";
import { takeObject } from "./pools-of-program.ts";
import { checkFields, checkTexts, isMap, type Refuse, refusal } from "./refuse.ts";

/** Metadata of objects without a namespace. */
export interface MetadataArgs {
  readonly name?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
}

export function checkMetadata(refuse: Refuse, metadata: MetadataArgs = {}): void {
  checkFields(refuse, "metadata", metadata, ["name", "labels", "annotations"]);
  const { labels = {}, annotations = {}, ...rest } = metadata;
  checkTexts(refuse, "metadata", rest);
  checkTexts(refuse, "metadata.labels", labels);
  checkTexts(refuse, "metadata.annotations", annotations);
}

/** A node by name, and by its hostname label where that is another one. */
export type NodeArgs = string | { readonly name: string; readonly hostname: string };

/** A type in which every value may also be an output. */
export type Inputs<T> = T extends string | number | boolean | undefined
  ? pulumi.Input<T>
  : T extends readonly (infer E)[]
    ? pulumi.Input<readonly Inputs<E>[]>
    : pulumi.Input<{ readonly [K in keyof T]: Inputs<T[K]> }>;

/** A policy, and the nodes it is for. */
export interface NodeNetworkPolicyArgs {
  readonly nodes: readonly NodeArgs[];
  /** What nmstate is to make of a node; claims of an AllocationSet stand in its address lists. */
  readonly desiredState: (node: string) => Inputs<DesiredState>;
  /** Captures of nmstate itself; they are left to the handler. */
  readonly capture?: { readonly [name: string]: string };
  /**
   * So many nodes are changed at once; the next ones wait until these say that they are configured, and are left alone
   * if one of these fails. Default: all at once, and nobody waits.
   */
  readonly batchSize?: number;
  /** Goes to every node's policy. Default: the name of the component is the name of the policy. */
  readonly metadata?: MetadataArgs;
}

/** Makes @pulumi/kubernetes wait for the handlers. */
const waitFor = "pulumi.com/waitFor";

/** One NodeNetworkConfigurationPolicy for each node, with literal addresses. */
export class NodeNetworkPolicy extends pulumi.ComponentResource {
  /** The objects as they go to the cluster, in the order of their nodes' names. */
  readonly manifests: pulumi.Output<object[]>;

  /**
   * Throws pulumi.RunError for arguments that are none, for a name that another policy of the program has in the same
   * cluster, for a node that is named twice, and for two of one hostname.
   */
  constructor(name: string, args: NodeNetworkPolicyArgs, opts?: pulumi.ComponentResourceOptions) {
    const refuse = refusal(`NodeNetworkPolicy ${name}`);
    checkFields(refuse, "", args, ["nodes", "desiredState", "capture", "batchSize", "metadata"]);
    checkMetadata(refuse, args.metadata);
    if (args.capture !== undefined) checkTexts(refuse, "capture", args.capture);
    const nodes = nodesOf(args, refuse);
    super("nodeippool:index:NodeNetworkPolicy", name, {}, opts);
    const policy = args.metadata?.name ?? name;
    refuseName(refuse, "its name in the cluster", policy);
    takeObject("NodeNetworkPolicy", policy, name, this);
    const objects = nodes.map((node) => objectOf(policy, node, args, refuse));
    const size = args.batchSize ?? nodes.length;
    const made: pulumi.Resource[] = [];
    for (const [i, object] of objects.entries()) {
      const batch = Math.floor(i / size);
      const dependsOn = batch === 0 ? [] : made.slice((batch - 1) * size, batch * size);
      made.push(customResource(childName(name, nodes[i]?.name as string), object, { parent: this, dependsOn }));
    }
    this.manifests = pulumi.output(objects as object[]);
    this.registerOutputs({ manifests: this.manifests });
  }
}

type Node = Exclude<NodeArgs, string>;

function nodesOf({ nodes, desiredState, batchSize = 1 }: NodeNetworkPolicyArgs, refuse: Refuse): Node[] {
  if (!Array.isArray(nodes)) refuse("nodes must be a list that is known now, of names or { name, hostname }");
  if (typeof desiredState !== "function") refuse("desiredState must be a function of a node's name");
  if (typeof batchSize !== "number") refuse("batchSize must be a number that is known");
  if (!Number.isInteger(batchSize) || batchSize < 1) refuse(`batchSize is ${batchSize}, which is no number of nodes`);
  const named = Array.from(nodes as readonly NodeArgs[]).map((node, i): Node => {
    if (typeof node === "string") return { name: node, hostname: node };
    checkFields(refuse, `nodes[${i}]`, node, ["name", "hostname"]);
    return node;
  });
  const [names, hosts] = [new Set<string>(), new Map<string, string>()];
  for (const [i, { name, hostname }] of named.entries()) {
    refuseName(refuse, `the name of nodes[${i}]`, name);
    refuseName(refuse, `the hostname of nodes[${i}]`, hostname);
    if (names.has(name)) refuse(`node ${name} is named twice`);
    // Of two policies for one host, the one that is applied last would win.
    if (hosts.has(hostname)) refuse(`nodes ${hosts.get(hostname)} and ${name} have one hostname, ${hostname}`);
    names.add(name);
    hosts.set(hostname, name);
  }
  return named.sort((a, b) => byCodeUnit(a.name, b.name));
}

function refuseName(refuse: Refuse, what: string, name: string): void {
  const issue = nameIssue(name);
  if (issue !== undefined) refuse(`${what}: ${issue}`);
}

function objectOf(name: string, node: Node, args: NodeNetworkPolicyArgs, refuse: Refuse) {
  const desiredState = args.desiredState(node.name);
  if (!isMap(desiredState)) refuse(`desiredState of node ${node.name} is no object`);
  const { labels = {}, annotations = {} } = args.metadata ?? {};
  const waits = args.batchSize === undefined ? {} : { [waitFor]: "condition=Available" };
  return childPolicy(
    { name, labels, annotations: { ...waits, ...annotations } },
    { name: node.name, labels: new Map([[hostnameLabel, node.hostname]]), bare: true },
    { capture: args.capture, desiredState },
  );
}
