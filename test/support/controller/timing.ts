import { type Timing, timing } from "../../../controller/timing.ts";

/** In the usual proportions, as far as that goes with requests that take their time: an address is free after seconds. */
export const hurried: Timing = {
  ...timing,
  fresh: 150,
  send: 700,
  request: 1_500,
  see: 2_500,
  hold: 5_000,
  settle: 20,
  gather: 200,
};

/** Whatever becomes free has become free. */
export const afterHold = hurried.hold + 1_500;
