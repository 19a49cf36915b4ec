/**
 * Fits a table into the terminal: truncates the widest columns with `…` until every line fits. Names are never
 * truncated, because users copy them. Lines may exceed the terminal's width if no other column can be shortened
 * further.
 */
const gap = 3
const narrowest = 10
const whole = new Set(['NAME', 'NAMESPACE'])

export function fitRows(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string[][] {
  const widths = headings.map((heading, i) => Math.max(lengthOf(heading), ...rows.map((row) => lengthOf(row[i] ?? ''))))
  const total = () => widths.reduce((sum, one) => sum + one + gap, -gap)
  while (total() > width) {
    const widest = widths.reduce(
      (best, one, i) => (whole.has(headings[i]!) || one <= narrowest || one <= (widths[best] ?? 0) ? best : i),
      -1,
    )
    if (widest < 0) break
    widths[widest] = Math.max(narrowest, widths[widest]! - (total() - width))
  }
  return rows.map((row) => row.map((cell, i) => cut(cell, widths[i]!)))
}

function cut(cell: string, width: number): string {
  return lengthOf(cell) <= width ? cell : `${[...cell].slice(0, width - 1).join('')}…`
}

function lengthOf(text: string): number {
  return [...text].length
}
