/**
 * Rows of cells as lines of aligned columns, the way users of kubectl know them: three blanks between columns, none
 * narrower than six, nothing after the last. A later part of the same text keeps the widths of the earlier ones.
 */
const gap = 3
const narrowest = 6

/** How a cell looks, such as in colour; what it adds has no width. */
export type Paint = (cell: string, column: number) => string

export class Columns {
  readonly #widths: number[] = []
  readonly #paint: Paint

  constructor(paint: Paint = (cell) => cell) {
    this.#paint = paint
  }

  /** The next rows as text. */
  lines(rows: readonly (readonly string[])[]): string {
    for (const row of rows) for (const [i, cell] of row.slice(0, -1).entries()) this.#widen(i, length(cell) + gap)
    return rows.map((row) => `${this.#line(row)}\n`).join('')
  }

  #widen(column: number, width: number): void {
    this.#widths[column] = Math.max(this.#widths[column] ?? narrowest, width)
  }

  #line(row: readonly string[]): string {
    const padded = row.slice(0, -1).map((cell, i) => this.#paint(cell, i) + ' '.repeat(this.#widths[i]! - length(cell)))
    return padded.join('') + this.#paint(row.at(-1) ?? '', row.length - 1)
  }
}

/** In characters, not in units of UTF-16. */
function length(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
