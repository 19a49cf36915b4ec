/**
 * Aligns tab-separated text. A tab ends a cell, and the cells in consecutive lines are aligned. A line without a cell
 * in a column ends the aligned block, so that unrelated parts do not widen each other:
 *
 *   Name:<tab>a          Name:       a
 *   Namespace:<tab>b     Namespace:  b
 */
const gap = 2

export function alignTabs(text: string): string {
  const lines = text.split('\n').map((line) => line.split('\t'))
  const widths: number[][] = lines.map(() => [])
  measure(lines, widths, { start: 0, end: lines.length, column: 0 })
  return lines
    .map((cells, i) => cells.map((cell, k) => (k === cells.length - 1 ? cell : cell.padEnd(widths[i]![k]!))).join(''))
    .join('\n')
}

interface Block {
  readonly start: number
  readonly end: number
  readonly column: number
}

/**
 * Finds consecutive lines that have a cell in this column, and then examines the next column of these lines
 * recursively.
 */
function measure(lines: readonly (readonly string[])[], widths: number[][], { start, end, column }: Block): void {
  for (let i = start; i < end; i++) {
    if (!hasCell(lines[i]!, column)) continue
    let last = i
    while (last < end && hasCell(lines[last]!, column)) last++
    const width = Math.max(...lines.slice(i, last).map((cells) => cells[column]!.length)) + gap
    for (let k = i; k < last; k++) widths[k]![column] = width
    measure(lines, widths, { start: i, end: last, column: column + 1 })
    i = last
  }
}

function hasCell(cells: readonly string[], column: number): boolean {
  return column < cells.length - 1
}
