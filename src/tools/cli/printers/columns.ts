/**
 * Formats rows as aligned columns like kubectl: three blanks between columns, a minimum width of six, and no trailing
 * blanks. Later rows keep the column widths of earlier rows.
 */
const gap = 3
const narrowest = 6

/** Adds colors or other escape sequences to a cell. Must not change the cell's visible width. */
export type Paint = (cell: string, column: number) => string

export class Columns {
  readonly #widths: number[] = []
  readonly #paint: Paint

  constructor(paint: Paint = (cell) => cell) {
    this.#paint = paint
  }

  /** Formats rows. Each column is at least as wide as in earlier calls. */
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

/** Returns the length of a text in characters rather than in UTF-16 code units. */
function length(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
