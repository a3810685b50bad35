import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../console.ts";
import type { Job } from "./program.ts";
import type { ProviderHost } from "./provider.ts";

const require = createRequire(join(root, "package.json"));
const grpc = require("@grpc/grpc-js");
const { ResourceMonitorService } = require("@pulumi/pulumi/proto/resource_grpc_pb");
const resources = require("@pulumi/pulumi/proto/resource_pb");
const { EngineService } = require("@pulumi/pulumi/proto/engine_grpc_pb");
const engine = require("@pulumi/pulumi/proto/engine_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");

type Fields = Record<string, unknown>;

/** A resource of the stack after an update. */
interface Made {
  readonly id: string;
  readonly inputs: Fields;
  readonly outputs: Fields;
}

/** What a run of a program came to. */
export interface Run {
  readonly errors: readonly string[];
  /** What the engine said or the provider refused. */
  readonly log: readonly string[];
  /** What the program was told of each resource, by name; without the provider's text. */
  readonly told: Readonly<Record<string, Fields>>;
  readonly outputs: Fields;
}

const setType = "pulumi-nodejs:dynamic/nodeippool:AllocationSet";

/**
 * A stand-in for the engine: real programs, the SDK's real serialisation and the real host of dynamic providers meet
 * over gRPC. Of what the engine does it emulates as little as sets need: check, and then create, update or nothing by
 * diff; deletion of what a program made no more; reading the stack's own outputs. It does not emulate secrets, aliases,
 * replacement, targets, refresh, the order and parallelism of calls, plans, locks or files: test/pulumi does all that on
 * the real engine.
 */
export class Monitor {
  readonly stack = new Map<string, Made>();
  /** The provider's text, as programs sent it. */
  readonly texts = new Set<string>();
  private readonly host: ProviderHost;
  private readonly server = new grpc.Server();
  private readonly child: ChildProcess;
  private address = "";
  private dryRun = false;
  private before = new Map<string, Made>();
  private told: Record<string, Fields> = {};
  private log: string[] = [];
  private outputs: Fields = {};
  private seen = new Set<string>();

  static async start(host: ProviderHost): Promise<Monitor> {
    const monitor = new Monitor(host);
    const bind = (resolve: (port: number) => void, reject: (error: Error) => void) =>
      monitor.server.bindAsync(
        "127.0.0.1:0",
        grpc.ServerCredentials.createInsecure(),
        (error: Error | null, port: number) => (error ? reject(error) : resolve(port)),
      );
    monitor.address = `127.0.0.1:${await new Promise<number>(bind)}`;
    return monitor;
  }

  private constructor(host: ProviderHost) {
    this.host = host;
    this.child = fork(join(import.meta.dirname, "program.ts"), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: ["--no-warnings"],
    });
    this.server.addService(ResourceMonitorService, {
      supportsFeature: answer(() => new resources.SupportsFeatureResponse()),
      invoke: answer(() => {
        const outputs = Object.fromEntries([...this.before].map(([urn, { outputs }]) => [urn, { type: "", outputs }]));
        return new resources.ResourceInvokeResponse().setReturn(Struct.fromJavaScript({ outputs }));
      }),
      registerResource: answer((request) => this.register(request)),
      registerResourceOutputs: answer((request) => {
        this.outputs = request.getOutputs().toJavaScript();
        return new Empty();
      }),
    });
    this.server.addService(EngineService, {
      log: answer((request) => {
        if (request.getSeverity() > 0) this.log.push(request.getMessage());
        return new Empty();
      }),
      getRootResource: answer(() => new engine.GetRootResourceResponse()),
      setRootResource: answer(() => new engine.SetRootResourceResponse()),
    });
  }

  preview(program: string, input?: unknown): Promise<Run> {
    return this.run(program, input, true);
  }

  up(program: string, input?: unknown): Promise<Run> {
    return this.run(program, input, false);
  }

  private async run(program: string, input: unknown, dryRun: boolean): Promise<Run> {
    Object.assign(this, { dryRun, told: {}, log: [], outputs: {}, seen: new Set(), before: new Map(this.stack) });
    const answered = once(this.child, "message");
    this.child.send({ program, input, dryRun, address: this.address } satisfies Job);
    const [errors] = await answered;
    if (!dryRun && errors.length === 0) await this.sweep();
    const { told, log, outputs } = this;
    return { errors, log, told, outputs };
  }

  private async sweep(): Promise<void> {
    for (const [urn, { id, outputs }] of this.stack) {
      if (this.seen.has(urn)) continue;
      await this.host.delete(id, outputs);
      this.stack.delete(urn);
    }
  }

  private async register(request: Request): Promise<unknown> {
    const [type, name] = [request.getType(), request.getName()];
    const urn = `urn:pulumi:dev::test::${type}::${name}`;
    const response = new resources.RegisterResourceResponse().setUrn(urn);
    if (type !== setType) return response.setObject(request.getObject());
    this.seen.add(urn);
    const { __provider, ...news } = request.getObject().toJavaScript() as Fields & { __provider: string };
    this.texts.add(__provider);
    this.host.text = __provider;
    const olds = this.before.get(urn);
    const { inputs, failures } = await this.host.check(olds?.inputs ?? {}, news);
    if (failures.length > 0) {
      this.log.push(...failures.map(({ reason }) => reason));
      throw Object.assign(new Error(`${name} failed its checks`), { code: grpc.status.INVALID_ARGUMENT });
    }
    const made = this.dryRun ? { id: "", inputs, outputs: inputs } : await this.commit(olds, inputs);
    if (!this.dryRun) this.stack.set(urn, made);
    this.told[name] = made.outputs;
    return response.setId(made.id).setObject(Struct.fromJavaScript(made.outputs));
  }

  private async commit(olds: Made | undefined, inputs: Fields): Promise<Made> {
    if (olds === undefined) {
      const { id, properties } = await this.host.create(inputs);
      return { id, inputs, outputs: properties };
    }
    const isSame = (await this.host.diff(olds.id, olds.outputs, inputs)).changes === 1;
    return isSame
      ? { ...olds, inputs }
      : { ...olds, inputs, outputs: await this.host.update(olds.id, olds.outputs, inputs) };
  }

  async stop(): Promise<void> {
    this.child.kill();
    this.server.forceShutdown();
    await once(this.child, "exit");
  }
}

interface Request {
  getType(): string;
  getName(): string;
  getMessage(): string;
  getSeverity(): number;
  getObject(): { toJavaScript(): Fields };
  getOutputs(): { toJavaScript(): Fields };
}

function answer(work: (request: Request) => unknown) {
  return async ({ request }: { request: Request }, done: (error: unknown, response?: unknown) => void) => {
    try {
      done(null, await work(request));
    } catch (error) {
      done(error);
    }
  };
}
