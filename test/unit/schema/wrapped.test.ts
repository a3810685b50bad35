import { describe, expect, it } from "vitest";
import { issuesOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const indented = (text: string, by: number) => text.trimEnd().replaceAll("\n", `\n${" ".repeat(by)}`);
const policy = nicPolicyText("a");

describe("a policy that asks a pool for addresses, inside of another object, is refused:", () => {
  const rows: [what: string, text: string, issue: string][] = [
    [
      "ACM's objectDefinition",
      `kind: ConfigurationPolicy\nmetadata: {name: c}\nspec:\n  object-templates:\n  - objectDefinition:\n      ${indented(policy, 6)}\n`,
      "8:24 NodeNetworkConfigurationPolicy a is inside of ConfigurationPolicy c (spec.object-templates.0.objectDefinition), where it gets no addresses",
    ],
    [
      "in a List, in JSON",
      JSON.stringify({
        kind: "List",
        items: [
          {
            kind: "Policy",
            metadata: { name: "c" },
            spec: {
              inner: {
                kind: "NodeNetworkConfigurationPolicy",
                metadata: { name: "a" },
                spec: { capture: { x: "ippool.p.allocate" } },
              },
            },
          },
        ],
      }),
      "1:92 NodeNetworkConfigurationPolicy a is inside of Policy c (spec.inner), where it gets no addresses",
    ],
    [
      "ACM's object-templates-raw",
      `kind: ConfigurationPolicy\nmetadata: {name: c}\nspec:\n  object-templates-raw: |\n    - objectDefinition:\n        ${indented(policy, 8)}\n`,
      "object-templates-raw of ConfigurationPolicy c asks a pool, and gets no addresses",
    ],
    [
      "an OpenShift template",
      `kind: Template\nmetadata: {name: t}\nobjects:\n- ${indented(policy, 2)}\n`,
      "4:3 NodeNetworkConfigurationPolicy a is inside of Template t (objects.0), where it gets no addresses",
    ],
  ];
  it.each(rows)("%s", (_, text, issue) => {
    expect(issuesOf({ "f.yaml": text, "p.yaml": poolText() }).map((one) => one.replace(/^\d+:\d+ /, ""))).toEqual([
      issue.replace(/^\d+:\d+ /, ""),
    ]);
  });

  it("without a pool it passes", () => {
    const text = `kind: C\nspec:\n  x:\n    ${indented(policy.replaceAll(/ippool\.p\.allocate/g, "hostname.running").replaceAll(/\{\{.*\}\}/g, "x"), 4)}\n`;
    expect(issuesOf({ "f.yaml": text, "p.yaml": poolText() })).toEqual([]);
  });
});

describe("a template of Helm or Jinja with a policy in it that asks a pool is said to be one:", () => {
  it.each([
    ["as a value", policy.replace("{name: a}", "{name: {{ .Values.name }}}")],
    ["quoted", policy.replace("{name: a}", '{name: "{{ .Values.name }}"}')],
    ["as control", `{{- if .Values.on }}\n${policy}{{- end }}\n`],
    ["as a function", policy.replace("eth1", '{{ include "nic" . | quote }}')],
    ["of Jinja", policy.replace("    - name", "    {% for x in y %}\n    - name")],
  ])("%s", (_, text) => {
    expect(issuesOf({ "f.yaml": text, "p.yaml": poolText() })).toEqual(["1:1 this is a template, not a manifest"]);
  });
});
