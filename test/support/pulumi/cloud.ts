import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

type Json = Record<string, unknown>;

interface CloudStack {
  deployment: Json;
  version: number;
}

/**
 * A service that answers the CLI what Pulumi Cloud does, as far as updates of stacks need (pkg/backend/httpstate/client
 * of the engine): the real one is not to be had here. It has organizations, which file backends do not.
 */
export class PulumiCloud {
  private readonly stacks = new Map<string, CloudStack>();
  private readonly server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString();
    const path = new URL(request.url as string, "http://cloud").pathname.replace(/^\/api\//, "");
    const answer = this.answer(request.method as string, path, text === "" ? {} : JSON.parse(text));
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { code: 404, message: `Not Found: ${path}` }));
  });

  /** Of the user: where the CLI looks for a stack whose name has none. */
  defaultOrganization = "alice";

  static async start(): Promise<PulumiCloud> {
    const cloud = new PulumiCloud();
    await once(cloud.server.listen(0, "127.0.0.1"), "listening");
    return cloud;
  }

  /** What the environment of commands needs. */
  get variables() {
    const { port } = this.server.address() as AddressInfo;
    return { PULUMI_BACKEND_URL: `http://127.0.0.1:${port}`, PULUMI_ACCESS_TOKEN: "pul-test" };
  }

  /** The state of a stack, by `organization/project/stack`. */
  resources(name: string): { type: string; outputs: Json }[] {
    const { deployment } = this.stacks.get(name)?.deployment ?? {};
    return ((deployment as Json | undefined)?.resources ?? []) as never;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(method: string, path: string, sent: Json): Json | undefined {
    const [kind, organization, project, stack, ...rest] = path.split("/");
    if (kind === "capabilities") return { capabilities: [] };
    if (kind === "user") return this.ofUser(path);
    if (kind !== "stacks" || project === undefined) return undefined;
    if (stack === undefined && method !== "POST") return {};
    const name = `${organization}/${project}/${stack ?? sent.stackName}`;
    if (stack === undefined) {
      this.stacks.set(name, { deployment: { version: 3, deployment: {} }, version: 0 });
      return {};
    }
    const found = this.stacks.get(name);
    if (found === undefined) return undefined;
    if (rest.length > 0) return this.ofStack(found, method, rest, sent);
    return { id: name, orgName: organization, projectName: project, stackName: stack, version: found.version };
  }

  private ofUser(path: string): Json {
    if (path.endsWith("/default")) return { GitHubLogin: this.defaultOrganization };
    if (path.endsWith("/stacks")) return { stacks: [] };
    const organizations = ["alice", "acme"].map((name) => ({ githubLogin: name, name }));
    return { id: "1", githubLogin: "alice", name: "alice", organizations, identities: [] };
  }

  private ofStack(stack: CloudStack, method: string, [verb, id, step]: string[], sent: Json): Json {
    if (verb === "export") return stack.deployment;
    if (verb === "encrypt") return { ciphertext: sent.plaintext };
    if (verb === "decrypt") return { plaintext: sent.ciphertext };
    if (id === undefined) return { updateID: "1" };
    if (step === "checkpoint") stack.deployment = sent;
    if (step === "checkpointverbatim") stack.deployment = sent.untypedDeployment as Json;
    if (step !== undefined) return { token: "t", tokenExpiration: Math.floor(Date.now() / 1000) + 300 };
    if (method === "GET") return { status: "running", events: [] };
    return { version: ++stack.version, token: "t", tokenExpiration: Math.floor(Date.now() / 1000) + 300 };
  }
}
