// Programs that import the package on an older Node would meet a bare TypeError somewhere inside it.
if (typeof Map.groupBy !== "function") throw new Error("nodeippool needs Node 22.21 or newer.");
