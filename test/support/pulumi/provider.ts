import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../console.ts";

const require = createRequire(join(root, "package.json"));
const grpc = require("@grpc/grpc-js");
const services = require("@pulumi/pulumi/proto/provider_grpc_pb");
const messages = require("@pulumi/pulumi/proto/provider_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");

type Fields = { readonly [name: string]: unknown };

/** The provider's text as version 0.1.0 left it in the states of stacks. Later versions add theirs, and remove none. */
export const firstText = readFileSync(join(import.meta.dirname, "pulumi-provider-0.1.0.txt"), "utf8");

/**
 * The SDK's real host of dynamic providers, spoken to as the engine speaks to it. It does not emulate what the engine
 * does with the answers: the order of calls, old inputs, replacement, secrets and state are for test/pulumi.
 */
export class ProviderHost {
  /** The provider's text: what resources are, to the host. */
  text = firstText;
  private readonly process: ChildProcess;
  private readonly client: { close(): void } & Record<string, (request: unknown, done: Done) => void>;

  /** `by`: a command that starts it, for example a shell; it gets the host's own command line. */
  static async start(cwd = root, by: readonly string[] = []): Promise<ProviderHost> {
    const host = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider");
    const [file = "", ...args] = [...by, process.execPath, host, "127.0.0.1:1"];
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, PULUMI_NODEJS_PROJECT: "test" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    // The host also writes down what it throws.
    child.stderr.resume();
    const [port] = await once(createInterface(child.stdout), "line");
    return new ProviderHost(child, `127.0.0.1:${port}`);
  }

  private constructor(child: ChildProcess, address: string) {
    this.process = child;
    this.client = new services.ResourceProviderClient(address, grpc.credentials.createInsecure());
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

  /** Kills the process that was started, which need not be the host itself. */
  async kill(): Promise<void> {
    const ended = this.process.exitCode ?? this.process.signalCode;
    this.process.kill("SIGKILL");
    if (ended === null) await once(this.process, "exit");
  }

  async stop(): Promise<void> {
    this.client.close();
    try {
      process.kill(-(this.process.pid as number), "SIGKILL"); // the group: the host, and whatever it was started by
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    await this.kill();
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
