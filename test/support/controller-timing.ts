import { type Timing, timing } from "../../controller/timing.ts";

/** In the usual proportions, so that an address is free after seconds. */
export const hurried: Timing = {
  ...timing,
  fresh: 300,
  send: 700,
  request: 2_000,
  see: 900,
  hold: 4_000,
  settle: 20,
  gather: 200,
};

/** As far as that goes with requests that take their time. */
export const rushed: Timing = { ...hurried, fresh: 150, send: 350, request: 1_100, see: 450, hold: 2_100 };
