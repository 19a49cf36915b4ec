/**
 * A table of any length that renders only the visible rows. All rows have the same height, and columns keep their width
 * during scrolling. Arrow keys, Page Up, Page Down, Home and End move between rows, and Enter opens a row.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { compareQuantities, parseQuantity } from '../../../../api/model/quantity.ts'
import type { TableColumn } from '../../../../client/requests/table.ts'
import type { Type } from '../core/kinds.ts'
import type { Row } from '../core/live-table.ts'
import { printedAgeMs } from '../core/printed-age.ts'
import { go, objectAddress } from '../core/route.ts'
import { useMatchingMedia } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { Age, Chip } from '../parts/display.tsx'
import { Icon } from '../parts/icon.tsx'

interface VirtualTableProps {
  readonly type: Type
  readonly rows: readonly Row[]
  readonly columns: readonly TableColumn[]
  readonly showNamespace: boolean
  /** Field to sort by. A leading `-` reverses the order. */
  readonly sort: string
  readonly onSort: (sort: string) => void
}

const spare = 8

/**
 * Matches a narrow page, which shows each row on two lines: first the name and the age, then the other cells with their
 * column names.
 */
const narrowPage = '(max-width: 600px)'
const rowHeights = { wide: 36, narrow: 60 }

/**
 * Determines how a column is shown. `name` is a link to the object. `link` is such a link in another column, for tables
 * that hide the name, such as the table of Events. `age` is the time since the object's creation. `lastSeen` is an age
 * that the server printed, and that keeps growing after the row has arrived.
 */
type ColumnRole = 'name' | 'link' | 'namespace' | 'age' | 'lastSeen' | 'status' | 'plain'

interface ShownColumn {
  readonly name: string
  readonly index: number
  readonly role: ColumnRole
  readonly isLink: boolean
  readonly width: number
}

export function VirtualTable({ type, rows, columns, showNamespace, sort, onSort }: VirtualTableProps) {
  const shownColumns = useMemo(() => columnsFor({ columns, rows, showNamespace }), [columns, rows, showNamespace])
  const sorted = useMemo(() => sortRows(rows, shownColumns, sort), [rows, shownColumns, sort])
  const isNarrow = useMatchingMedia(narrowPage)
  const rowHeight = isNarrow ? rowHeights.narrow : rowHeights.wide
  const { view, first, count, onScroll, scrollTo } = useWindow(sorted.length, rowHeight)
  const { onKeyDown, active } = useRowKeys(view, { length: sorted.length, rowHeight, scrollTo })
  const inView = sorted.slice(first, first + count)
  const total = shownColumns.reduce((sum, { width }) => sum + width, 0)
  return (
    <section
      class={isNarrow ? 'table-view narrow' : 'table-view'}
      aria-label="Objects"
      ref={view}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be accessible by keyboard
      tabIndex={0}
    >
      <table aria-rowcount={sorted.length + 1} style={isNarrow ? {} : { minWidth: `${total}ch` }}>
        <colgroup>
          {shownColumns.map(({ name, index, width }) => (
            <col key={`${index} ${name}`} style={{ width: `${(100 * width) / total}%` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {shownColumns.map(({ name }) => (
              <HeadCell key={name} name={name} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Spacer height={first * rowHeight} columns={shownColumns.length} />}
          {inView.map((row, i) => (
            <BodyRow
              key={row.key}
              {...{ row, type }}
              columns={shownColumns}
              index={first + i}
              isActive={first + i === active}
            />
          ))}
          <Spacer
            height={Math.max(0, sorted.length - first - inView.length) * rowHeight}
            columns={shownColumns.length}
          />
        </tbody>
      </table>
    </section>
  )
}

/** Fills the space of rows that are not rendered because they are above or below the visible part. */
function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height === 0) return null
  return (
    <tr class="spacer-row">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  )
}

function HeadCell({ name, sort, onSort }: { readonly name: string } & Pick<VirtualTableProps, 'sort' | 'onSort'>) {
  const isUp = sort === name
  const isDown = sort === `-${name}`
  return (
    <th scope="col" aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}>
      <button type="button" onClick={() => onSort(isUp ? `-${name}` : isDown ? '' : name)}>
        {displayText(name, 60)}
        {isUp && <Icon name="up" />}
        {isDown && <Icon name="down" />}
      </button>
    </th>
  )
}

interface BodyRowProps {
  readonly row: Row
  readonly type: Type
  readonly columns: readonly ShownColumn[]
  readonly index: number
  readonly isActive: boolean
}

function BodyRow({ row, type, columns, index, isActive }: BodyRowProps) {
  const { metadata } = row
  const to = objectAddress(type, metadata)
  return (
    <tr aria-rowindex={index + 2} class={metadata.deletionTimestamp ? 'going' : undefined} onDblClick={() => go(to)}>
      {columns.map((column) =>
        column.isLink ? (
          <th scope="row" key={column.name}>
            <a href={to} data-row={index} tabIndex={isActive ? 0 : -1} title={displayText(metadata.name, 300)}>
              <CellOf column={column} row={row} />
              {column.role !== 'name' && <span class="sr-only"> {displayText(metadata.name, 200)}</span>}
            </a>
            {metadata.deletionTimestamp && <Chip tone="warn">deleting</Chip>}
          </th>
        ) : (
          <td key={column.name} data-column={displayText(column.name, 60)} class={column.role}>
            <CellOf column={column} row={row} />
          </td>
        ),
      )}
    </tr>
  )
}

function CellOf({ column: { index, role }, row }: { readonly column: ShownColumn; readonly row: Row }) {
  const { metadata, cells, receivedMs } = row
  if (role === 'name') return <>{displayText(metadata.name, 200)}</>
  if (role === 'namespace') return <Cell value={metadata.namespace} />
  if (role === 'age') return <Age since={metadata.creationTimestamp} />
  const ageMs = role === 'lastSeen' ? printedAgeMs(String(cells[index])) : undefined
  if (ageMs !== undefined) return <Age since={new Date(receivedMs - ageMs).toISOString()} />
  return <Cell value={cells[index]} />
}

function Cell({ value }: { readonly value: unknown }) {
  const text = displayText(value, 200)
  return <span title={text.length > 20 ? displayText(value, 1000) : undefined}>{text}</span>
}

type ColumnSource = Pick<VirtualTableProps, 'columns' | 'rows' | 'showNamespace'>

/**
 * Returns the columns: the link to the object, the namespace if there are several, and then the server's other columns.
 */
function columnsFor({ columns, rows, showNamespace }: ColumnSource): ShownColumn[] {
  const printed = columns.flatMap((column, index) => {
    if (column.priority > 0) return []
    const { name } = column
    return [{ name, index, role: roleOf(column), isLink: false, width: widthOf(rows, index, name) }]
  })
  const linked = printed.find(({ role }) => role === 'name') ?? printed[0]
  if (linked === undefined) return [{ name: 'Name', index: 0, role: 'name', isLink: true, width: 30 }]
  const namespace: ShownColumn = {
    name: 'Namespace',
    index: -1,
    role: 'namespace',
    isLink: false,
    width: clamp(Math.max(...rows.slice(0, 100).map(({ metadata }) => metadata.namespace?.length ?? 0), 9) + 3),
  }
  const others = printed.filter((column) => column !== linked)
  return [{ ...linked, isLink: true }, ...(showNamespace ? [namespace] : []), ...others]
}

function roleOf({ name, format }: TableColumn): ColumnRole {
  if (format === 'name') return 'name'
  if (name === 'Age') return 'age'
  if (name === 'Last Seen') return 'lastSeen'
  return statusColumns.has(name) ? 'status' : 'plain'
}

/** Names of columns that a narrow page shows before all others. */
const statusColumns = new Set(['Status', 'Phase', 'Ready', 'Condition', 'Reason'])

function widthOf(rows: readonly Row[], index: number, name: string): number {
  const lengths = rows.slice(0, 100).map(({ cells }) => String(cells[index] ?? '').length)
  return clamp(Math.max(...lengths, name.length + 2) + 3)
}

function clamp(width: number): number {
  return Math.min(46, Math.max(9, width))
}

function sortRows(rows: readonly Row[], columns: readonly ShownColumn[], sort: string): readonly Row[] {
  const sortColumn = columns.find(({ name }) => name === sort || `-${name}` === sort)
  if (sortColumn === undefined) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  // The older an object is, the earlier its creation time. Sorting by time is therefore the reverse of sorting by age.
  const direction = sortColumn.role === 'age' || sortColumn.role === 'lastSeen' ? -sign : sign
  return [...rows].sort((a, b) => direction * compareCells(sortValue(sortColumn, a), sortValue(sortColumn, b)))
}

function sortValue({ role, index }: ShownColumn, { metadata, cells, receivedMs }: Row): unknown {
  if (role === 'age') return metadata.creationTimestamp
  if (role === 'lastSeen') return receivedMs - (printedAgeMs(String(cells[index])) ?? 0)
  return role === 'namespace' ? metadata.namespace : cells[index]
}

function compareCells(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const one = String(a ?? '')
  const other = String(b ?? '')
  const quantities = [quantityOf(one), quantityOf(other)] as const
  if (quantities[0] !== undefined && quantities[1] !== undefined) return compareQuantities(quantities[0], quantities[1])
  return one < other ? -1 : one > other ? 1 : 0
}

function quantityOf(text: string) {
  return /^\d[\d.]{0,20}[A-Za-z]{0,2}$/.test(text) ? parseQuantity(text) : undefined
}

/** Computes which rows are visible, from the scroll position and the height of the table. */
function useWindow(length: number, rowHeight: number) {
  const view = useRef<HTMLElement>(null)
  const [place, setPlace] = useState({ top: 0, height: 600 })
  const measure = () => {
    const element = view.current
    if (element !== null) setPlace({ top: element.scrollTop, height: element.clientHeight })
  }
  useLayoutEffect(measure, [length, rowHeight])
  useEffect(() => {
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [])
  const first = Math.max(0, Math.min(Math.floor(place.top / rowHeight) - spare, length - 1))
  const count = Math.ceil(place.height / rowHeight) + 2 * spare
  const scrollTo = (index: number) => {
    const element = view.current
    if (element === null) return
    const top = index * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + 2 * rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + 2 * rowHeight - element.clientHeight
    measure()
  }
  return { view, first, count, onScroll: measure, scrollTo }
}

interface RowScroll {
  readonly length: number
  readonly rowHeight: number
  readonly scrollTo: (index: number) => void
}

/** Moves the focus between rows. Only one row is in the tab order. */
function useRowKeys(view: { readonly current: HTMLElement | null }, { length, rowHeight, scrollTo }: RowScroll) {
  const [active, setActive] = useState(0)
  const rowToFocus = useRef<number | undefined>(undefined)
  // Sets the focus in the same task that renders the row. Otherwise the focus would be lost if the previous row is no
  // longer rendered, and the table would not receive keys.
  useLayoutEffect(() => {
    if (rowToFocus.current === undefined) return
    const link = view.current?.querySelector<HTMLElement>(`a[data-row="${rowToFocus.current}"]`)
    if (link) rowToFocus.current = undefined
    link?.focus({ preventScroll: true })
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((view.current?.clientHeight ?? 0) / rowHeight) - 2)
    const steps: { readonly [key: string]: number } = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -length,
      End: length,
    }
    const step = steps[event.key]
    if (step === undefined || !(event.target as HTMLElement).closest('tbody, .table-view')) return
    event.preventDefault()
    const from = (event.target as HTMLElement).dataset.row
    const next = Math.max(0, Math.min(length - 1, (from === undefined ? active - step : Number(from)) + step))
    rowToFocus.current = next
    setActive(next)
    scrollTo(next)
  }
  return { onKeyDown, active: Math.min(active, length - 1) }
}
