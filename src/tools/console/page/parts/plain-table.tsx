/** A table of a few rows. Where the page is narrow each row is a block whose cells name their columns. */
import type { ComponentChildren } from 'preact'
import { Scrolling } from './shown.tsx'

export interface PlainRow {
  readonly key: string
  /** One for each column; what is undefined is left out of a block. */
  readonly cells: readonly (ComponentChildren | undefined)[]
}

interface PlainTableProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly PlainRow[]
}

export function PlainTable({ label, columns, rows }: PlainTableProps) {
  return (
    <Scrolling label={label}>
      <table class="plain-table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {columns.map((column, i) => (
                <td key={column} data-column={column}>
                  {cells[i] !== undefined && <div>{cells[i]}</div>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  )
}
