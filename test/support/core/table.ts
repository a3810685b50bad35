/** One row of a text table: its cells by column, and its own text as a title. Cells are lists, parted by `;`. */
interface TableRow {
  readonly title: string;
  readonly cell: (column: string) => string[];
}

/** Reads a table of `|` and newlines, whose first line names the columns. Lines of `-`, `#` or nothing are for people. */
export function tableOf(text: string): TableRow[] {
  const [head = "", ...lines] = text.split("\n").filter((line) => !/^\s*([-#].*)?$/.test(line));
  const cellsOf = (line: string) => line.split("|").map((cell) => cell.trim());
  const columns = cellsOf(head);
  return lines.map((line) => {
    const cells = cellsOf(line);
    if (cells.length !== columns.length) throw new Error(`${cells.length} cells in: ${line}`);
    return {
      title: cells.map((cell) => cell || "-").join(" | "),
      cell: (column) => {
        if (!columns.includes(column)) throw new Error(`no column ${column}`);
        return (cells[columns.indexOf(column)] ?? "")
          .split(";")
          .map((item) => item.trim())
          .filter(Boolean);
      },
    };
  });
}
