const MAGIC = 0x47361222; // what `ip address save` writes first
const RTM_NEWADDR = 20;
const REQUEST_ACK_REPLACE_CREATE = 0x505;
const AF_INET6 = 10;
const IFA_F_NODAD = 0x02;
const SCOPE_LINK = 253;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_PROTO = 11;
const FOREIGN = 0x63; // any number that the kernel has no name for

/** Input of `ip address restore` that puts fe80::<node>:<interface> on an interface; `ip address add` knows no protocol. */
export function linkLocal(node: number, interfaceIndex: number): Buffer {
  const address = Buffer.alloc(16);
  address.writeUInt16BE(0xfe80, 0);
  address.writeUInt16BE(node, 12);
  address.writeUInt16BE(interfaceIndex, 14);
  const header = Buffer.from([AF_INET6, 64, IFA_F_NODAD, SCOPE_LINK]);
  const proto = Buffer.from([FOREIGN]);
  const attributes = [attribute(IFA_ADDRESS, address), attribute(IFA_LOCAL, address), attribute(IFA_PROTO, proto)];
  const body = Buffer.concat([header, uint32(interfaceIndex), ...attributes]);
  const type = RTM_NEWADDR | (REQUEST_ACK_REPLACE_CREATE << 16);
  return Buffer.concat([...[MAGIC, 16 + body.length, type, 1, 0].map(uint32), body]);
}

function attribute(type: number, value: Buffer): Buffer {
  const padding = Buffer.alloc(-value.length & 3);
  return Buffer.concat([uint32((4 + value.length) | (type << 16)), value, padding]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
