import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/cli/printers/columns.ts
var Columns = class {
  #widths = [];
  /** The next rows as text. */
  lines(rows) {
    for (let row of rows) for (let [i, cell] of row.slice(0, -1).entries()) this.#widen(i, length(cell) + 3);
    return rows.map((row) => `${this.#line(row)}
`).join("");
  }
  #widen(column, width) {
    this.#widths[column] = Math.max(this.#widths[column] ?? 6, width);
  }
  #line(row) {
    return row.slice(0, -1).map((cell, i) => cell + " ".repeat(this.#widths[i] - length(cell))).join("") + (row.at(-1) ?? "");
  }
};
function length(text) {
  let count = 0;
  for (let _ of text) count++;
  return count;
}

export {
  Columns
};
