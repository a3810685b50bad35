// Run as a program in the namespace of a lab's switch: ADDRESS API_SOCKET WEBHOOK_SOCKET. Nodes reach the API server at
// ADDRESS, the API server reaches the webhook at its socket, and the probes of the handlers get an answer of DNS.
import { createSocket } from "node:dgram";
import { forward } from "../cluster/forward.ts";

const [address = "", api = "", webhook = ""] = process.argv.slice(2);
await forward({ host: address, port: 6443 }, { path: api });
const dns = createSocket("udp4");
dns.on("message", (query, { address: host, port }) => dns.send(answer(query), port, host));
dns.bind(53, address);
await forward({ path: webhook }, { host: "127.0.0.1", port: 9443 });

/** Every name has one name server, a., and no address. */
function answer(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isNameServer = query.readUInt16BE(end - 4) === 2;
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8580, 2);
  head.writeUInt16BE(isNameServer ? 1 : 0, 6);
  head.fill(0, 8);
  const record = Buffer.from([0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 60, 0, 3, 1, 0x61, 0]);
  return Buffer.concat([head, query.subarray(12, end), ...(isNameServer ? [record] : [])]);
}
