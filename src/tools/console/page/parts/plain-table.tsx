/** A small table. On a narrow page, each row is a block whose cells show their column names. */
import type { ComponentChildren } from 'preact'
import { Scrolling } from './display.tsx'

export interface PlainRow {
  readonly key: string
  /** The cells, one per column. On a narrow page, undefined cells are not shown. */
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
