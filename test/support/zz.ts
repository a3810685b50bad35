import { recordsOf, textsOf } from "/work/main/test/support/git-forks.ts";
import { mergeTexts } from "/work/main/test/support/git-merge.ts";
import { randomForks } from "/work/main/test/support/state-branch.ts";

const cpu0 = process.cpuUsage();
let c = cpu0;
let t = performance.now();
const lap = (s) => {
  const d = process.cpuUsage(c);
  console.log(s, "wall", (performance.now() - t).toFixed(0), "cpu", ((d.user + d.system) / 1000).toFixed(0));
  c = process.cpuUsage();
  t = performance.now();
};
const forks = await randomForks(2000, 1);
lap("forks");
const texts = forks.map((f) => textsOf(recordsOf(f)));
lap("texts");
mergeTexts(texts);
lap("merge");
