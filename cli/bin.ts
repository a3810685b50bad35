#!/usr/bin/env node
// Imports nothing that an old Node lacks, so that it can say what is missing.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 21)) {
  process.stderr.write(
    `nodeippool needs Node 22.21 or newer; this is ${process.versions.node}.\n  npm install --save-dev node@24 brings one for npx.\n`,
  );
  process.exitCode = 2;
} else await import("./main.ts");

export {};
