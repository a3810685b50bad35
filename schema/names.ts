/** What is wrong with the name of a Kubernetes object (an RFC 1123 subdomain), or undefined. */
export function nameIssue(name: unknown): string | undefined {
  if (name === undefined || name === null || name === "") return "is missing";
  if (typeof name !== "string") return "must be text; quote it";
  if (name.length > 253) return "is longer than 253 characters";
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
    return `${JSON.stringify(name)} is no name: lower case letters, digits, - and . only`;
  if (/[.-]\.|\.-/.test(name)) return `${JSON.stringify(name)} is no name: next to a . is a letter or a digit`;
  return undefined;
}
