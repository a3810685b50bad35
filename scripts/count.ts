// Sums up vitest's JSON reports: `node scripts/count.ts FAILED_STEPS REPORT...` prints the last line of .ci/run.
import { existsSync, readFileSync } from "node:fs";

const [steps = "0", ...reports] = process.argv.slice(2);
const counts = { passed: 0, failed: Number(steps), skipped: 0 };
for (const path of reports) {
  if (!existsSync(path)) continue;
  const report = JSON.parse(readFileSync(path, "utf8"));
  counts.passed += report.numPassedTests;
  counts.failed += report.numFailedTests;
  counts.skipped += report.numPendingTests + report.numTodoTests;
}
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
