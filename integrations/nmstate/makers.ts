import { IpamError } from "../../core/index.ts";

/** Who makes which policy; nobody makes one that somebody else makes. */
export class Makers {
  private readonly makers = new Map<string, string>();

  /** Throws IpamError `invalid` if the name is taken. */
  take(name: string, maker: string): void {
    const other = this.makers.get(name);
    if (other !== undefined)
      throw new IpamError("invalid", `policy ${name} is made by ${other} and by ${maker}`, {
        hint: "Rename one of them.",
      });
    this.makers.set(name, maker);
  }
}
