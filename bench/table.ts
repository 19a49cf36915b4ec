/**
 * The rows of a benchmark run, and the table in which they are printed. The ratios in the table are comparable across
 * machines.
 */

export interface Row {
  readonly name: string
  /** Result of the server, with its unit. `bare` is the result of the bare limit in the same run. */
  readonly ours: string
  readonly bare: string
  readonly ratio?: number
  /**
   * The bare limit's CPU time per request, divided by the server's CPU time per request. Reliable even on a shared
   * machine.
   */
  readonly byCpu?: number
  readonly target?: string
  /** Whether the target is met. Undefined if there is no target. */
  readonly met?: boolean
  /** CPU time per request of the server and of the bare limit, as text. */
  readonly cpu?: string
  /** Note for the reader, for example that the load generator was the bottleneck. */
  readonly note?: string
  /** Unformatted numbers, for `--json` and `--plot`. */
  readonly figures: { readonly [name: string]: number }
}

const titles = ['', 'ours', 'bare limit', 'ratio', 'by CPU', 'target', 'CPU/request', 'note'] as const

export function printTable(rows: readonly Row[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows.map(cells)]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map(
      (line) =>
        `| ${line.map((cell, i) => (cell === '---' ? '-'.repeat(widths[i]!) : cell.padEnd(widths[i]!))).join(' | ')} |`,
    )
    .join('\n')
}

function cells(row: Row): string[] {
  const target = row.target === undefined ? '' : `${row.target} ${row.met ? 'met' : 'MISSED'}`
  const part = (value: number | undefined) => (value === undefined ? '' : short(value))
  return [row.name, row.ours, row.bare, part(row.ratio), part(row.byCpu), target, row.cpu ?? '', row.note ?? '']
}

/** Formats a number with three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

export function perSecond(value: number): string {
  return `${short(value)}/s`
}

export function megabytes(bytes: number): string {
  return `${short(bytes / 1024 ** 2)} MB`
}

export function atLeast(bound: number, ratio: number): Pick<Row, 'ratio' | 'target' | 'met'> {
  return { ratio, target: `>= ${bound}`, met: ratio >= bound }
}

export function atMost(bound: number, value: number, unit: string): Pick<Row, 'target' | 'met'> {
  return { target: `< ${bound} ${unit}`, met: value < bound }
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
