import { describe, expect, it } from "vitest";
import { poolOfCapture, readTemplate } from "../../../schema/template.ts";
import { issuesOf, policyText, poolText, read } from "../../support/schema/text.ts";

const withGateway = poolText("  range: {cidr: 10.0.0.0/24}\n  gateway: 10.0.0.1");
const whole = 'a template is the whole value, with one blank inside the braces: "{{ capture.NAME.ip }}"';

// What both engines of nmstate take alike (Go nmpolicy and Rust nmstatectl policy): nmstate.md, section 2.
describe("readTemplate", () => {
  const rows: [row: string, text: string, ...read: [kind: string, capture?: string, rest?: string]][] = [
    ["no template", "eth1", "text"],
    ["no template: a lone { is the handler's business", "{ capture.x.ip }", "text"],
    ["no template: braces that close alone", "capture.x.ip }}", "text"],
    ["whole value, one blank each side", "{{ capture.x.ip }}", "capture", "x", "ip"],
    ["a path of ids and numbers", "{{ capture.x.interfaces.0.name }}", "capture", "x", "interfaces.0.name"],
    [
      "an id with - and digits",
      "{{ capture.address-from-traffic-1.prefix-length }}",
      "capture",
      "address-from-traffic-1",
      "prefix-length",
    ],
    ["no path", "{{ capture.x }}", "capture", "x", ""],
    ["a prefix: Rust alone", "10.{{ capture.x.ip }}", "bad"],
    ["a suffix: Rust alone", "{{ capture.x.ip }}/24", "bad"],
    ["blanks around: Rust alone", " {{ capture.x.ip }} ", "bad"],
    ["a line break after it", "{{ capture.x.ip }}\n", "bad"],
    ["two references", "{{ capture.x.ip }}{{ capture.x.ip }}", "bad"],
    ["not closed", "{{ capture.x.ip", "bad"],
    ["an id that starts with a digit: Rust alone", "{{ capture.1x.ip }}", "bad"],
    ["an id with _: Rust alone", "{{ capture.a_b.ip }}", "bad"],
    ["an id that starts with -", "{{ capture.-x.ip }}", "bad"],
    ["no name", "{{ capture..ip }}", "bad"],
    ["an empty step", "{{ capture.x..ip }}", "bad"],
    ["a step too many dots", "{{ capture.x.ip. }}", "bad"],
    ["another root", "{{ node.name }}", "bad"],
    ["an expression", "{{ capture.x.ip | upper }}", "bad"],
    ["code", "{{ process.exit() }}", "bad"],
    ["a comparison", '{{ capture.x.ip == "a" }}', "bad"],
    ["nothing", "{{ }}", "bad"],
    ["letters beyond ASCII", "{{ capture.é.ip }}", "bad"],
    ["no blank", "{{capture.x.ip}}", "bad"],
    ["two blanks", "{{  capture.x.ip  }}", "bad"],
    ["tabs", "{{\tcapture.x.ip\t}}", "bad"],
    ["one blank", "{{capture.x.ip }}", "bad"],
    ["a blank that is none, and a prefix", "10.{{\u00a0capture.x.ip\u00a0}}", "bad"],
  ];
  it.each(rows)("%s: %j", (_, text, kind, capture, rest) => {
    const expected = { text: { kind }, capture: { kind, capture, rest }, bad: { kind, why: whole } }[kind];
    expect(readTemplate(text)).toEqual(expected);
  });
});

describe("poolOfCapture", () => {
  const rows: [expression: string, pool: string | null | undefined][] = [
    ["ippool.traffic-1.allocate", "traffic-1"],
    ["  ippool.traffic-1.allocate\n", "traffic-1"],
    ["ippool.1.allocate", "1"],
    ["ippool.blue.example.allocate", "blue.example"],
    ["ippool.a.allocate.allocate", "a.allocate"],
    ["ippool.a", null],
    ["ippool.a.release", null],
    ["ippool.A.allocate", null],
    ["ippool.-a.allocate", null],
    ["ippool..allocate", null],
    ["ippool.a.allocate | x", null],
    ["IPPOOL.a.allocate", null],
    ["ippool", null],
    ['interfaces.name=="eth1"', undefined],
    ["hostname.running", undefined],
    ["capture.ippool.interfaces", undefined],
    ["routes.running.destination==ippool.a.allocate", undefined],
    ["", undefined],
  ];
  it.each(rows)("%j is %j", (expression, pool) => {
    expect(poolOfCapture(expression)).toBe(pool);
  });
});

describe("a policy's references", () => {
  const spec = (desiredState: string) =>
    policyText(`  capture: {x: ippool.p.allocate, up: interfaces.name=="eth0"}\n  desiredState:\n${desiredState}`);
  const issues = (desiredState: string) => issuesOf({ "f.yaml": spec(desiredState), "p.yaml": withGateway });

  const rows: [desiredState: string, ...issues: string[]][] = [
    [
      '    a: "{{ capture.x }}"',
      "7:8 an allocation has the fields ip, prefix-length, gateway, not none; did you mean ip?",
    ],
    ['    a: "{{ capture.x.mask }}"', "7:8 an allocation has the fields ip, prefix-length, gateway, not mask"],
    [
      '    a: "{{ capture.x.prefix-lenght }}"',
      "7:8 an allocation has the fields ip, prefix-length, gateway, not prefix-lenght; did you mean prefix-length?",
    ],
    [
      '    a: "{{ capture.x.ip.0 }}"',
      expect.stringMatching(
        /^7:8 an allocation has the fields ip, prefix-length, gateway, not ip\.0/,
      ) as unknown as string,
    ],
    ['    a: "{{ capture.xx.ip }}"', "7:8 capture xx is not defined; did you mean x?"],
    ['    a: "{{ capture.something-else.ip }}"', "7:8 capture something-else is not defined; defined are x, up"],
    ['    a: ["{{ capture.x.ip }}/24"]', `7:9 {{ capture.x.ip }}/24: ${whole}`],
    ['    a: "{{ capture.up.interfaces.0.name }}"'],
    ['    a: "{{ capture.up }}"'],
    ['    "{{ capture.x.ip }}": a'],
  ];
  it.each(rows)("%s", (desiredState, ...expected) => {
    expect(issues(desiredState)).toEqual(expected);
  });

  it("to other captures stay as they are", () => {
    const text = spec('    a: "{{ capture.up.interfaces.0.name }}"');
    const [policy] = read({ "f.yaml": text, "p.yaml": withGateway }).policies;
    expect(policy?.otherCaptures).toEqual({ up: 'interfaces.name=="eth0"' });
    expect(policy?.desiredState).toEqual({ a: "{{ capture.up.interfaces.0.name }}" });
  });

  const nic = (name: string, ...more: string[]) =>
    `    - name: ${name}\n      ipv4: {enabled: true, address: [{ip: "{{ capture.x.ip }}"}${more.map((m) => `, {ip: "{{ capture.${m}.ip }}"}`).join("")}]}`;

  it("put one capture on one NIC", () => {
    const desiredState = `    interfaces:\n${nic("eth1")}\n${nic("eth2")}`;
    expect(issues(desiredState)).toEqual([
      "11:44 x is one address, and interface eth1 has it already; use a second capture for eth2",
    ]);
  });

  it("may use the address elsewhere too: routes, other sections", () => {
    const elsewhere =
      '    routes: {config: [{next-hop-address: "{{ capture.x.gateway }}", source: "{{ capture.x.ip }}"}]}';
    expect(issues(`    interfaces:\n${nic("eth1")}\n${elsewhere}`)).toEqual([]);
  });

  it("tell the NIC that a capture is for, where its name is a literal", () => {
    const interfaceOf = (name: string) => {
      const [policy] = read({ "f.yaml": spec(`    interfaces:\n${nic(name)}`), "p.yaml": withGateway }).policies;
      return policy?.captures.get("x");
    };
    expect(interfaceOf("eth1")).toEqual({ pool: "p", interface: "eth1" });
    expect(interfaceOf('"11"')).toEqual({ pool: "p", interface: "11" });
    expect(interfaceOf('"{{ capture.up.interfaces.0.name }}"')).toEqual({ pool: "p" });
    expect(() => interfaceOf("11")).toThrow("name must be text; quote it");
  });
});
