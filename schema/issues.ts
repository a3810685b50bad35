/** Nobody reads more issues of one document. */
export const enough = 100;
