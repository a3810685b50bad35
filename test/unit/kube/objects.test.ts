import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { objectsOf } from "../../../kube/objects.ts";

it.each(["null", "{}", "[]", '{"items":null}', '{"items":[null]}', '{"items":[{}]}', '{"items":[7]}'])(
  "a list of %s is no API server's",
  async (reply) => {
    const server = createServer((_, response) => response.end(reply)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const objects = objectsOf({
      name: "c",
      server: new URL(`http://127.0.0.1:${port}`),
      namespace: "net",
      user: {},
    });
    try {
      const listed = objects.list({ apiVersion: "v1", plural: "configmaps" }, { namespace: "net" });
      await expect(listed).rejects.toMatchObject({
        code: "invalid",
        message: "what answers /api/v1/namespaces/net/configmaps is no API server of Kubernetes",
      });
    } finally {
      objects.close();
      server.close();
    }
  },
);
