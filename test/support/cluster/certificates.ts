import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { command } from "../tools/tools.ts";

/** Paths of PEM files. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** One authority signs servers on loopback and their clients. */
export interface Certificates {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** An administrator by client certificate. */
  readonly admin: KeyPair;
  /** The key that signs the tokens of service accounts. */
  readonly tokens: string;
}

export async function makeCertificates(folder: string): Promise<Certificates> {
  const tokens = join(folder, "tokens.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(tokens, privateKey.export({ type: "sec1", format: "pem" }));
  const authority = await certificate(folder, "authority", "/CN=test authority");
  const [server, admin] = await Promise.all([
    certificate(folder, "server", "/CN=kube-apiserver", authority, "subjectAltName=IP:127.0.0.1,DNS:localhost"),
    certificate(folder, "admin", "/O=system:masters/CN=admin", authority),
  ]);
  return { authority, server, admin, tokens };
}

async function certificate(folder: string, name: string, subject: string, signer?: KeyPair, extension?: string) {
  const pair = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", pair.key];
  const signed = signer
    ? ["-CA", signer.certificate, "-CAkey", signer.key, "-addext", "basicConstraints=critical,CA:FALSE"]
    : [];
  const extensions = extension === undefined ? [] : ["-addext", extension];
  const args = ["req", "-x509", "-days", "30", "-subj", subject, ...key, "-out", pair.certificate];
  await promisify(execFile)(command("openssl"), [...args, ...signed, ...extensions]);
  return pair;
}
