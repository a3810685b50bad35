import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./console.ts";

const require = createRequire(join(root, "package.json"));
const grpc = require("@grpc/grpc-js");
const services = require("@pulumi/pulumi/proto/provider_grpc_pb");
const messages = require("@pulumi/pulumi/proto/provider_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");

type Fields = { readonly [name: string]: unknown };

/** The text of the provider, as the SDK puts it into a stack's state. */
export function providerText(): string {
  const program = `
    const pulumi = require("@pulumi/pulumi");
    import("./dist/provider/dispatcher.js").then(async ({ dispatcher }) => {
      const { text } = await pulumi.runtime.serializeFunction(() => dispatcher, { allowSecrets: true });
      process.stdout.write(text);
    });`;
  return execFileSync(process.execPath, ["-e", program], { cwd: root, encoding: "utf8" });
}

/**
 * The SDK's real host of dynamic providers, spoken to as the engine speaks to it. It does not emulate what the engine
 * does with the answers: the order of calls, old inputs, replacement, secrets and state are for test/pulumi.
 */
export class ProviderHost {
  private readonly process: ChildProcess;
  private readonly client: { close(): void } & Record<string, (request: unknown, done: Done) => void>;
  private readonly text: string;

  static async start(text: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<ProviderHost> {
    const command = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider");
    const child = spawn(process.execPath, [command, "127.0.0.1:1"], {
      cwd,
      env: { ...process.env, ...env, PULUMI_NODEJS_PROJECT: "test" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [port] = await once(createInterface(child.stdout), "line");
    return new ProviderHost(child, `127.0.0.1:${port}`, text);
  }

  private constructor(child: ChildProcess, address: string, text: string) {
    this.process = child;
    this.client = new services.ResourceProviderClient(address, grpc.credentials.createInsecure());
    this.text = text;
  }

  async check(
    olds: Fields,
    news: Fields,
  ): Promise<{ inputs: Fields; failures: { property: string; reason: string }[] }> {
    const { inputs, failuresList } = await this.call("check", messages.CheckRequest, { olds, news: this.with(news) });
    return { inputs: without(inputs), failures: failuresList };
  }

  async diff(id: string, olds: Fields, news: Fields): Promise<{ changes: number }> {
    return await this.call("diff", messages.DiffRequest, { id, olds: this.with(olds), news: this.with(news) });
  }

  async create(properties: Fields): Promise<{ id: string; properties: Fields }> {
    const made = await this.call("create", messages.CreateRequest, { properties: this.with(properties) });
    return { ...made, properties: without(made.properties) };
  }

  async update(id: string, olds: Fields, news: Fields): Promise<Fields> {
    const made = await this.call("update", messages.UpdateRequest, {
      id,
      olds: this.with(olds),
      news: this.with(news),
    });
    return without(made.properties);
  }

  async read(id: string, properties: Fields): Promise<{ id: string; properties: Fields; inputs: Fields }> {
    const got = await this.call("read", messages.ReadRequest, { id, properties: this.with(properties) });
    return { ...got, properties: without(got.properties), inputs: without(got.inputs) };
  }

  async delete(id: string, properties: Fields): Promise<void> {
    await this.call("delete", messages.DeleteRequest, { id, properties: this.with(properties) });
  }

  async stop(): Promise<void> {
    this.client.close();
    this.process.kill("SIGKILL");
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
  }

  private with(fields: Fields): Fields {
    return { ...fields, __provider: this.text };
  }

  private call(method: string, Request: new () => Message, fields: Fields): Promise<Answer> {
    const request = new Request();
    request.setUrn?.("urn:pulumi:dev::test::pulumi-nodejs:dynamic/nodeippool:AllocationSet::set");
    for (const [name, value] of Object.entries(fields)) {
      const set = `set${name[0]?.toUpperCase()}${name.slice(1)}`;
      request[set]?.(typeof value === "object" ? Struct.fromJavaScript(value) : value);
    }
    return new Promise((resolve, reject) => {
      this.client[method]?.(request, (error, response) => {
        if (error) reject(error);
        else resolve(plain(response) as unknown as Answer);
      });
    });
  }
}

/** What the calls answer, taken together. */
interface Answer {
  readonly id: string;
  readonly inputs: Fields;
  readonly properties: Fields;
  readonly failuresList: { property: string; reason: string }[];
  readonly changes: number;
}

type Message = { [method: string]: ((value: unknown) => void) | undefined };
type Done = (
  error: Error | null,
  response: { toObject(): object } & Record<string, (() => unknown) | undefined>,
) => void;

/** A response as plain data, its structs too. */
function plain(response: { toObject(): object } & Record<string, unknown>): Fields {
  const object = response.toObject() as Record<string, unknown>;
  for (const name of ["Inputs", "Properties"]) {
    const struct = (response[`get${name}`] as (() => { toJavaScript?(): unknown } | undefined) | undefined)?.call(
      response,
    );
    if (struct?.toJavaScript !== undefined) object[name.toLowerCase()] = struct.toJavaScript();
  }
  return object;
}

function without(fields: Fields): Fields {
  const { __provider, ...rest } = fields as Record<string, unknown>;
  return rest;
}
