import { describe, expect, it } from "vitest";
import { readNetworkTemplate } from "../../../integrations/metal3/template.ts";

const whole =
  "a template is the whole value: {{ ip['NET'] }}, {{ config['NET'].gateway }} or {{ config['NET'].dnsServers }}";

describe("readNetworkTemplate (D9: a closed grammar; R25, R26)", () => {
  it.each([
    ["{{ ip['net0'] }}", "net0", "ip"],
    ["{{ ip['net0']}}", "net0", "ip"],
    ["{{ip['net0']}}", "net0", "ip"],
    ['{{ ip["net0"] }}', "net0", "ip"],
    ["{{  ip [ 'net0' ]  }}", "net0", "ip"],
    ["{{ config['net0'].gateway}}", "net0", "gateway"],
    ['{{ config["a.b-1"].dnsServers }}', "a.b-1", "dnsServers"],
    ["{{ config['net0'] . gateway }}", "net0", "gateway"],
  ])("%s", (text, network, field) => {
    expect(readNetworkTemplate(text)).toEqual({ network, field });
  });

  it.each(["192.168.0.1/24", "", "{ ip['net0'] }", "ip['net0'] }}"])("no template: %j", (text) => {
    expect(readNetworkTemplate(text)).toBeUndefined();
  });

  it.each([
    "x{{ ip['net0'] }}",
    "{{ ip['net0'] }}/24",
    " {{ ip['net0'] }}",
    "{{ ip['net0'] }}\n",
    "{{ ip['net0'] }}{{ ip['net0'] }}",
    "{{ ip['net0\"] }}",
    "{{ ip[net0] }}",
    "{{ ip.net0 }}",
    "{{ ip['net0'].gateway }}",
    "{{ config['net0'] }}",
    "{{ ip['net0'] | upper }}",
    "{{ ip['net0'] + 1 }}",
    "{{ constructor.constructor('return process')() }}",
    "{{ config['net0'].gateway.constructor }}",
    "{{ }}",
    "{{ ip['net0']",
    "{{- ip['net0'] -}}",
  ])("refused: %j", (text) => {
    expect(readNetworkTemplate(text)).toEqual({ why: whole });
  });

  it("config has two fields, and nothing of an object's own", () => {
    for (const field of ["constructor", "__proto__", "netmask", "toString"])
      expect(readNetworkTemplate(`{{ config['net0'].${field} }}`)).toEqual({
        why: expect.stringContaining(`config has the fields gateway, dnsServers, not ${field}`),
      });
  });
});
