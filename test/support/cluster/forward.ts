import { once } from "node:events";
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Server, type Socket } from "node:net";

/**
 * Passes connections on, each to a new one. A socket of the file system is reached from every network namespace, so two of
 * these join two namespaces.
 */
export async function forward(from: ListenOptions, to: NetConnectOpts): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ ...to, allowHalfOpen: true });
    join(client, target);
    join(target, client);
  });
  await once(server.listen(from), "listening");
  return server;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  one.on("error", () => other.destroy());
  one.on("close", () => other.destroySoon());
}
