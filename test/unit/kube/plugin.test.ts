import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { credentialsOf } from "../../../kube/credentials.ts";
import { scratchFolder } from "../../support/state/folder.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const server = new URL("https://a.test");
const sourceOf = (script: string, more: object = {}) => {
  const exec = {
    apiVersion,
    command: "sh",
    args: ["-c", script],
    env: { GREETING: "hi" },
    isInteractive: true,
    ...more,
  };
  return credentialsOf({ name: "a", server, namespace: "default", user: { exec } });
};
const ask = (script: string, more: object = {}) => sourceOf(script, more).get();
const print = (content: object) =>
  `printf '%s' '${JSON.stringify({ apiVersion, kind: "ExecCredential", ...content })}'`;

describe("a credential plugin", () => {
  it("is told of the cluster and of its environment", async () => {
    const script = `[ "$GREETING" = hi ] || exit 3; printf '{"apiVersion":"${apiVersion}","status":{"token":%s}}' "$(printf '%s' "$KUBERNETES_EXEC_INFO" | base64 -w0 | sed 's/.*/"&"/')"`;
    const { headers } = await ask(script, { cluster: { server: "s" } });
    const told = Buffer.from(String(headers.authorization).replace("Bearer ", ""), "base64").toString();
    const spec = { interactive: false, cluster: { server: "s" } };
    expect(JSON.parse(told)).toEqual({ apiVersion, kind: "ExecCredential", spec });
  });

  it.each([
    ["exit 3", "ended with 3"],
    ["kill -9 $$", "ended with a signal"],
    ["echo hello", "printed no JSON"],
    ["echo null", "did not print a credential"],
    [print({ apiVersion: "v1", status: { token: "t" } }), "did not print a credential"],
    [print({ status: {} }), "printed neither a token nor a certificate"],
    [print({ status: { clientCertificateData: "c" } }), "printed neither a token nor a certificate"],
  ])("%s: %s", async (script, message) => {
    await expect(ask(script, { hint: "install it" })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(new RegExp(`^the credential plugin sh ${message}[^]*install it$`)),
    });
  });

  it("that does not exist", async () => {
    const missing = ask("", { command: "/none/login", hint: "install it" });
    await expect(missing).rejects.toThrow(
      /^the credential plugin \/none\/login did not run: .*ENOENT\n {2}install it$/,
    );
  });

  it("that failed is run again by the next request", async () => {
    const flag = join(scratchFolder(), "ran");
    const source = sourceOf(`[ -e ${flag} ] || { touch ${flag}; exit 1; }; ${print({ status: { token: "t" } })}`);
    await expect(source.get()).rejects.toThrow("ended with 1");
    await expect(source.get()).resolves.toMatchObject({ headers: { authorization: "Bearer t" } });
  });

  it("whose credentials expire is run once for all that wait", async () => {
    const runs = join(scratchFolder(), "runs");
    const status = { token: "t", expirationTimestamp: new Date(Date.now() + 13_000).toISOString() };
    const source = sourceOf(`echo >> ${runs}; ${print({ status })}`);
    await source.get();
    await setTimeout(3_200);
    await Promise.all(Array.from({ length: 10 }, () => source.get()));
    expect(readFileSync(runs, "utf8")).toBe("\n\n");
  });
});
