/** Shows all objects of a kind as a live table. The URL contains the filters and the sort order. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { type LiveState, type LiveTable, type TableExtent, TableFollower } from '../core/live-table.ts'
import { Store } from '../core/observable.ts'
import { route, setQuery, type TypePlace } from '../core/route.ts'
import { useStore } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { Chip, Loading, Notice, PageHead, type Tone } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { NamespaceField } from '../parts/namespace-field.tsx'
import { NewObject } from './new-object.tsx'
import { VirtualTable } from './virtual-table.tsx'

export function BrowsePage({ place }: { readonly place: TypePlace }) {
  const { kinds } = useConsoleContext()
  const { isLoaded } = kinds.store.value
  const type = kinds.find(place)
  if (type !== undefined) return <Browse type={type} />
  if (!isLoaded) return <Loading />
  return <Vanished place={place} />
}

/** Shown if the kind is not, or is no longer, served. The kind may be served again later. */
export function Vanished({ place }: { readonly place: TypePlace }) {
  const { kinds } = useConsoleContext()
  useEffect(() => {
    const timer = setInterval(() => void kinds.refresh().catch(() => {}), 3_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      <PageHead title={displayText(place.plural, 100)} />
      <Notice
        tone="warn"
        title={`The server does not serve ${displayText(place.plural, 100)} ${place.group && `of ${displayText(place.group, 100)}`}`}
      >
        Its definition may have been deleted. This page goes on by itself when the kind is served again.
      </Notice>
    </>
  )
}

const nothing = new Store<LiveTable>({
  state: 'loading',
  columns: [],
  rows: new Map(),
  total: undefined,
  changes: 0,
  error: undefined,
})

/** Maximum number of objects that a table loads. If there are more, only the first page is loaded. */
const maxRows = 2_000

/**
 * Sort parameters for the columns by which the server can sort. Sorting by age reverses the order of creation times.
 */
const serverSorts: { readonly [column: string]: TableExtent['sort'] } = {
  Name: 'metadata.name',
  '-Name': '-metadata.name',
  Namespace: 'metadata.namespace',
  '-Namespace': '-metadata.namespace',
  Age: '-metadata.creationTimestamp',
  '-Age': 'metadata.creationTimestamp',
}

/**
 * Returns how many objects to load, and in which order. Name filters and most sort orders require all objects, because
 * the page applies them itself.
 */
function extentOf(query: ReadonlyMap<string, string>): TableExtent {
  const column = query.get('sort') ?? ''
  const sort = serverSorts[column]
  const needsAll = query.get('all') === 'true' || (query.get('name') ?? '') !== '' || (column !== '' && !sort)
  return needsAll ? { maxRows: Number.POSITIVE_INFINITY } : { maxRows, ...(sort && { sort }) }
}

function Browse({ type }: { readonly type: Type }) {
  const { client, kinds } = useConsoleContext()
  const { query } = useStore(route)
  const [namespace = '', labels = '', name = ''] = ['namespace', 'labels', 'name'].map((each) => query.get(each) ?? '')
  const [follower, setFollower] = useState<TableFollower>()
  const table = useStore(follower?.store ?? nothing)
  const extent = extentOf(query)
  useEffect(() => {
    const aborting = new AbortController()
    const selection = {
      ...(type.namespaced && namespace !== '' && { namespace }),
      ...(labels !== '' && { labelSelector: labels }),
    }
    const next = new TableFollower(client, type, { ...selection, extent })
    setFollower(next)
    void next.run(aborting.signal)
    return () => aborting.abort()
  }, [client, type.group, type.version, type.plural, namespace, labels])
  useEffect(() => follower?.load(extent), [follower, extent.sort, extent.maxRows])
  const { error, state } = table
  // A 404 response may mean that the definition of the kind was deleted. In that case, refresh the list of served
  // kinds.
  useEffect(() => {
    if (state === 'failed') void kinds.refresh().catch(() => {})
  }, [state])
  return (
    <>
      <PageHead title={displayText(type.kind, 100)}>
        <span class="sub">{type.group === '' ? type.version : `${displayText(type.group, 100)}/${type.version}`}</span>
        <LiveChip state={state} />
        <span class="spacer" />
        {type.verbs.includes('create') && <NewObject type={type} namespace={namespace || 'default'} />}
      </PageHead>
      <Filters type={type} values={{ labels, name }} />
      {state === 'failed' ? (
        <Failure error={error} />
      ) : (
        <Rows type={type} table={table} name={name} showNamespace={type.namespaced && namespace === ''} />
      )}
    </>
  )
}

const states: { readonly [S in LiveState]: readonly [Tone, string, string] } = {
  loading: ['plain', 'Loading', 'The objects are being listed.'],
  live: ['good', 'Live', 'Changes appear as they happen.'],
  listed: ['info', 'Every 5 s', 'This kind cannot be watched: it is listed again every five seconds.'],
  lost: ['warn', 'Reconnecting', 'The server does not answer: what is shown may be out of date.'],
  behind: ['warn', 'Catching up', 'The watch fell behind, so the objects are listed again.'],
  failed: ['bad', 'Stopped', 'The server refuses to list these objects; it is asked again from time to time.'],
}

function LiveChip({ state }: { readonly state: LiveState }) {
  const [tone, word, title] = states[state]
  return (
    <span role="status">
      <Chip tone={tone} title={title}>
        {word}
      </Chip>
    </span>
  )
}

interface FilterValues {
  readonly labels: string
  readonly name: string
}

function Filters({ type, values }: { readonly type: Type; readonly values: FilterValues }) {
  return (
    <search aria-label="Filters">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {type.namespaced && <NamespaceField />}
        <label>
          <span>Name contains</span>
          <input
            value={values.name}
            spellcheck={false}
            onInput={({ currentTarget }) => setQuery({ name: currentTarget.value })}
          />
        </label>
        <label>
          <span>Labels</span>
          <input
            value={values.labels}
            spellcheck={false}
            placeholder="app=web,tier!=db"
            onChange={({ currentTarget }) => setQuery({ labels: currentTarget.value.trim() })}
          />
        </label>
      </form>
    </search>
  )
}

interface RowsProps {
  readonly type: Type
  readonly table: LiveTable
  readonly name: string
  readonly showNamespace: boolean
}

function Rows({ type, table, name, showNamespace }: RowsProps) {
  const { query } = useStore(route)
  const sort = query.get('sort') ?? ''
  const rows = useMemo(() => {
    const all = [...table.rows.values()]
    return name === '' ? all : all.filter(({ metadata }) => metadata.name?.includes(name))
  }, [table.changes, name])
  const isLoading = table.state === 'loading'
  if (rows.length === 0 && isLoading) return <Loading />
  const hiddenRows = table.rows.size - rows.length
  return (
    <>
      <VirtualTable
        {...{ type, rows, showNamespace, sort }}
        columns={table.columns}
        onSort={(next) => setQuery({ sort: next })}
      />
      <p class="count" role="status">
        {rows.length.toLocaleString('en')}
        {table.total !== undefined && ` of ${table.total.toLocaleString('en')}`}{' '}
        {rows.length === 1 ? 'object' : 'objects'}
        {hiddenRows > 0 && `, ${hiddenRows.toLocaleString('en')} more do not match the name`}
        {isLoading && ', loading more…'}
        {table.total !== undefined && (
          <button type="button" onClick={() => setQuery({ all: 'true' })}>
            Show all
          </button>
        )}
      </p>
    </>
  )
}
