import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { hostnameLabel } from "../../../schema/node.ts";
import { readNodes } from "../../../schema/read-nodes.ts";
import { nodeippool } from "../console.ts";
import type { Nncp } from "../real/e2e-handler.ts";

/** An address that the lock gives to a NIC of a node. */
export interface Planned {
  /** The node's hostname, which is also what the lab calls the node. */
  readonly host: string;
  readonly nic: string;
  readonly ip: string;
  /** `ip` with its prefix length. */
  readonly address: string;
}

interface Line {
  readonly address: string;
  readonly pool: string;
  readonly claim: string;
  readonly interface: string;
}

/** A user's folder: manifests/, nodes.txt or nodes.yaml, and what the CLI makes of them: nodeippool.lock, rendered/. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "nodeippool-e2e-"));

  /** With a folder: a copy of it, without what the CLI makes of `manifests`, if there are any. */
  constructor(from?: string) {
    if (from === undefined) return;
    const made = existsSync(join(from, "manifests")) ? ["nodeippool.lock", "rendered"] : [];
    cpSync(from, this.folder, { recursive: true, filter: (path) => !made.includes(basename(path)) });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a verb; what it prints. Throws what it reports. */
  run(...args: string[]): string {
    const { status, stdout, stderr } = nodeippool(args, this.folder);
    if (status !== 0) throw new Error(`nodeippool ${args.join(" ")}: exit status ${status}\n${stderr}`);
    return stdout;
  }

  allocate(...options: string[]): string {
    return this.run("allocate", "manifests", "--nodes", this.nodesFile(), ...options);
  }

  /** Renders, and returns the policies that are then in rendered/. */
  render(): Nncp[] {
    this.run("render", "manifests", "--nodes", this.nodesFile(), "--out", "rendered");
    return this.policies();
  }

  /** The policies that are in rendered/. */
  policies(): Nncp[] {
    const files = readdirSync(join(this.folder, "rendered")).filter((name) => name.endsWith(".yaml"));
    const objects = files.flatMap((name) => parseAllDocuments(this.read(`rendered/${name}`)).map((doc) => doc.toJS()));
    return objects.filter(({ kind }) => kind === "NodeNetworkConfigurationPolicy");
  }

  hosts(): string[] {
    return [...this.hostOf().values()];
  }

  planned(): Planned[] {
    const { pools, allocations } = parse(this.read("nodeippool.lock")) as {
      pools: { pool: string; cidr: string }[];
      allocations: Line[];
    };
    const lengths = new Map(pools.map(({ pool, cidr }) => [pool, cidr.split("/")[1]]));
    return allocations.map(({ address: ip, pool, claim, interface: nic }) => {
      const host = this.hostOf().get(claim.split("/")[1] as string) as string;
      return { host, nic, ip, address: `${ip}/${lengths.get(pool)}` };
    });
  }

  nodesFile(): string {
    return readdirSync(this.folder).find((name) => name.startsWith("nodes.")) as string;
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** Node name to hostname. */
  private hostOf(): Map<string, string> {
    const path = this.nodesFile();
    const nodes = readNodes({ path, text: this.read(path) });
    return new Map(nodes.map(({ name, labels }) => [name, labels.get(hostnameLabel) as string]));
  }
}
