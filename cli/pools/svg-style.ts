/** Colours and patterns of the maps, light and dark; every kind of cell is also told apart without colour. */
export const style = `<style>
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #59636e; }
.name { font: 600 18px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.key { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
.label { text-anchor: end; }
.tick { font-size: 10px; fill: #818b98; }
.card { fill: #ffffff; stroke: #d1d9e0; }
.cell { stroke-width: 1; }
.held { fill: #0969da; stroke: #0550ae; }
.releasing { fill: url(#releasing); stroke: #bf8700; }
.free { fill: #dafbe1; stroke: #82cfa0; }
.reserved { fill: #fbefff; stroke: #8250df; stroke-width: 2; }
.on-request { fill: none; stroke: #6cc08c; stroke-dasharray: 2 2; }
.controller { fill: #e3f6f5; stroke: #3a9ea5; stroke-dasharray: 4 2; }
.excluded { fill: url(#excluded); stroke: #b7bfc8; }
.outside { fill: none; stroke: #e6eaef; }
.stripe { stroke: #d4a72c; }
.ground { fill: #fff8c5; }
.cross { stroke: #b7bfc8; }
.back { fill: #eff2f5; }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1; }
.name { fill: #f0f6fc; }
.tick { fill: #656c76; }
.card { fill: #0d1117; stroke: #3d444d; }
.held { fill: #388bfd; stroke: #79c0ff; }
.releasing { stroke: #d29922; }
.free { fill: #14331f; stroke: #256f3d; }
.reserved { fill: #271c46; stroke: #a371f7; }
.on-request { fill: none; stroke: #2a7a44; }
.controller { fill: #0f2526; stroke: #3a9ea5; }
.excluded { stroke: #3d444d; }
.outside { stroke: #1c2128; }
.stripe { stroke: #bb8009; }
.ground { fill: #341a00; }
.cross { stroke: #4b535d; }
.back { fill: #151b23; }
}
</style>
<defs>
<pattern id="releasing" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="6" height="6"/><line class="stripe" x1="1.5" y1="0" x2="1.5" y2="6" stroke-width="3"/></pattern>
<pattern id="excluded" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="back" width="5" height="5"/><line class="cross" x1="1" y1="0" x2="1" y2="5" stroke-width="1.2"/></pattern>
</defs>`;
